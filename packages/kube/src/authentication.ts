import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import type { AuthMethod, ClusterAccess, Material } from './access.ts'
import { CredentialError } from './errors.ts'
import { type ExecCredential, runExecPlugin } from './exec-plugin.ts'
import { Renewing } from './renewing.ts'

/** What a connection is made with, as PEM. A new object means: make new connections. */
export interface TlsMaterial {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** What one request goes out with. It stays the same object while nothing changed. */
export interface Authentication {
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly tls: TlsMaterial
}

/** Token and certificate files are read again this often: kubelets and cert-managers replace them in place. */
const FILE_REFRESH_MS = 30_000
/** client-node's providers look at the expiry themselves whenever they are asked. */
const PROVIDER_REFRESH_MS = 10_000

/** The credentials of one cluster access, kept fresh. */
export class Authenticator {
  readonly #files: Renewing<Authentication>
  readonly #plugin: Renewing<ExecCredential> | undefined
  #last: { files: Authentication; credential: ExecCredential | undefined; whole: Authentication } | undefined

  constructor(access: ClusterAccess, clock: Clock, log: Logger) {
    const onRefreshError = (error: unknown) =>
      log.warn({ reason: messageOf(error) }, 'credentials could not be refreshed, the old ones are used on')
    const { auth } = access
    const refreshInMs = auth.kind === 'provider' ? PROVIDER_REFRESH_MS : FILE_REFRESH_MS
    const load = async () => ({ value: await readAccess(access), refreshInMs })
    this.#files = new Renewing({ load, clock, onRefreshError })
    if (auth.kind === 'exec') {
      this.#plugin = new Renewing({ load: () => runExecPlugin(auth.plugin, clock), clock, onRefreshError })
    }
  }

  /** Without a wait while what is known still works. @throws CredentialError when none can be had */
  current(): Authentication | Promise<Authentication> {
    const files = this.#files.current()
    const credential = this.#plugin?.current()
    if (!(files instanceof Promise) && !(credential instanceof Promise)) return this.#whole(files, credential)
    return Promise.all([files, credential]).then((both) => this.#whole(...both))
  }

  /** After a 401 to `used`: other credentials to try with, or undefined when there are none. */
  async renewed(used: Authentication): Promise<Authentication | undefined> {
    const last = this.#last
    if (last && last.whole === used) {
      const mayChange = this.#plugin
        ? last.credential && this.#plugin.reject(last.credential)
        : this.#files.reject(last.files)
      if (!mayChange) return undefined
    }
    const fresh = await this.current()
    return fresh === used ? undefined : fresh
  }

  #whole(files: Authentication, credential: ExecCredential | undefined): Authentication {
    const last = this.#last
    if (last && last.files === files && last.credential === credential) return last.whole
    const whole = keepEqual(last?.whole, combine(files, credential))
    this.#last = { files, credential, whole }
    return whole
  }
}

async function readAccess(access: ClusterAccess): Promise<Authentication> {
  const [ca, cert, key, authorization] = await Promise.all([
    readMaterial(access.ca),
    readMaterial(access.cert),
    readMaterial(access.key),
    authorizationOf(access.auth),
  ])
  return {
    headers: { ...access.impersonation, ...(authorization ? { authorization } : {}) },
    tls: { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) },
  }
}

async function authorizationOf(auth: AuthMethod): Promise<string | undefined> {
  switch (auth.kind) {
    case 'none':
    case 'exec':
      return undefined
    case 'basic':
      return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
    case 'bearer':
      return `Bearer ${(await readMaterial(auth.token))?.trim() ?? ''}`
    case 'provider':
      return auth.authorization()
  }
}

async function readMaterial(material: Material | undefined): Promise<string | undefined> {
  if (!material || 'text' in material) return material?.text
  try {
    return await readFile(material.file, 'utf8')
  } catch (error) {
    throw new CredentialError(`${material.file} cannot be read: ${messageOf(error)}`, error)
  }
}

function combine(files: Authentication, credential: ExecCredential | undefined): Authentication {
  if (!credential) return files
  const { token, cert, key } = credential
  return {
    headers: { ...files.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) },
    tls: { ...files.tls, ...(cert && key ? { cert, key } : {}) },
  }
}

/** Equal content keeps its object, so that a file that was only read again makes no new connections. */
function keepEqual(last: Authentication | undefined, next: Authentication): Authentication {
  if (isDeepStrictEqual(last, next)) return last ?? next
  return last && isDeepStrictEqual(last.tls, next.tls) ? { ...next, tls: last.tls } : next
}
