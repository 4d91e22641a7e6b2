import { createHash, createPrivateKey, randomUUID, sign, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '@upgrade-hub/core'
import { type Ca, createCa } from '@upgrade-hub/pki'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Credentials, parseDockerConfig } from './docker-config.ts'
import type { RegistrySettings } from './settings.ts'
import {
  AGENT,
  type DockerRegistry,
  dockerRegistryProblem,
  FILE,
  PullBench,
  type ServerTls,
  startDockerRegistry,
  startTestProxy,
  TAG,
} from './testing/index.ts'

const SIZE = 3_000_000
const CONTENT = createHash('shake256', { outputLength: SIZE }).update('agent').digest()
const SERVICE = 'registry.example'
const ISSUER = 'tokens.example'
/** bcrypt of the password below, as `htpasswd -B` writes it. */
const HTPASSWD = 'me:$2b$05$abcdefghijklmnopqrstuuGs.0Wn1wAMk/xFzI68Jn0MfPFvt7gUq\n'
const PASSWORD = 's3cret-p4ssword'

const problem = dockerRegistryProblem()

let ca: Ca
let tls: ServerTls
let bench: PullBench
let digest: string

beforeAll(async () => {
  ca = await createCa({ commonName: 'site', validDays: 1 })
  const server = await ca.issueServer({ dnsNames: [], ipAddresses: ['127.0.0.1'], validDays: 1 })
  tls = { cert: server.certPem, key: server.keyPem }
})

beforeEach(async (context) => {
  // Where the program is missing, the closing table says so.
  if (problem !== undefined) context.skip(problem)
  bench = await PullBench.create()
  digest = await bench.publish([[{ name: 'etc/os-release' }], [{ ...AGENT, content: CONTENT }]])
})

afterEach(() => bench.remove())

type Change = Partial<RegistrySettings> & { readonly tag?: string }

function pullFrom({ host }: DockerRegistry, credentials: Credentials, { tag = TAG, ...more }: Change = {}) {
  const image = { registry: host, repository: 'team/edge', tag }
  return bench.pull({
    image,
    registry: { ca: ca.certPem, allow: [host], plainHttp: [], credentials, ...more },
  })
}

/** As `docker login` leaves it. */
function dockerConfig(host: string, password = PASSWORD): Credentials {
  const auth = Buffer.from(`me:${password}`).toString('base64')
  return parseDockerConfig(JSON.stringify({ auths: { [host]: { auth } } }), 'config.json')
}

function startWithPassword(): Promise<DockerRegistry> {
  const auth = (folder: string) => ({ htpasswd: { realm: 'site', path: join(folder, 'htpasswd') } })
  return startDockerRegistry({ store: bench.store, tls, files: { htpasswd: HTPASSWD }, auth })
}

/** R27, R28 */
describe('a real registry with a private CA and a password', () => {
  let registry: DockerRegistry

  beforeEach(async () => {
    registry = await startWithPassword()
  })

  afterEach(() => registry.stop())

  it('has the image', async () => {
    const { files, indexDigest } = await pullFrom(registry, dockerConfig(registry.host))
    expect(indexDigest).toBe(digest)
    expect(CONTENT.equals(await readFile(files[FILE]?.path ?? ''))).toBe(true)
  })

  it('goes on at the byte where an earlier pull was killed', async () => {
    const [layer] = bench.layers()
    await bench.leaveLayer(layer?.digest ?? '', layer?.data.subarray(0, 1_000_000) ?? Buffer.alloc(0))
    const proxy = await startTestProxy()
    const settings = { proxy: { https: `http://${proxy.host}`, noProxy: '' } }
    const { files } = await pullFrom(registry, dockerConfig(registry.host), settings)
    expect(CONTENT.equals(await readFile(files[FILE]?.path ?? ''))).toBe(true)
    expect(proxy.bytesToClient()).toBeLessThan(SIZE - 900_000)
    expect(new Set(proxy.targets)).toEqual(new Set([registry.host]))
    await proxy.stop()
  })

  it('lets nobody in with a wrong password or with none', async () => {
    for (const credentials of [dockerConfig(registry.host, 'wrong'), new Map()])
      await expect(pullFrom(registry, credentials)).rejects.toMatchObject({ code: 'OCI_CREDENTIALS_REFUSED' })
  })

  it('says that it has not got a tag', async () => {
    const pull = pullFrom(registry, dockerConfig(registry.host), { tag: 'v9.9.9' })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_NOT_FOUND' })
  })

  it('is not trusted by another CA', async () => {
    const other = await createCa({ commonName: 'other', validDays: 1 })
    const pull = pullFrom(registry, dockerConfig(registry.host), { ca: other.certPem })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_UNTRUSTED' })
  })

  it('is not believed when a bit of its disk has turned', async () => {
    const [layer] = bench.layers()
    layer?.data.writeUInt8(layer.data.readUInt8(SIZE / 2) ^ 1, SIZE / 2)
    const rotten = await startWithPassword()
    const pull = pullFrom(rotten, dockerConfig(rotten.host))
    await expect(pull).rejects.toMatchObject({ code: 'OCI_DIGEST_MISMATCH' })
    await rotten.stop()
  })
})

/** R28 */
describe('a real registry with a token server', () => {
  let registry: DockerRegistry

  beforeEach(async () => {
    const signer = await ca.issueServer({ dnsNames: ['tokens.example'], ipAddresses: [], validDays: 1 })
    const basic = `Basic ${Buffer.from(`me:${PASSWORD}`).toString('base64')}`
    const { host } = await bench.serve((request, response) => {
      const known = request.headers.authorization === basic
      const scope = new URL(request.url ?? '', 'https://x').searchParams.get('scope') ?? ''
      if (known) response.end(JSON.stringify({ token: accessToken(signer, scope) }))
      else response.writeHead(401).end()
      return true
    }, tls)
    registry = await startDockerRegistry({
      store: bench.store,
      tls,
      files: { 'ca.crt': ca.certPem },
      auth: (folder) => ({
        token: {
          realm: `https://${host}/token`,
          service: SERVICE,
          issuer: ISSUER,
          rootcertbundle: join(folder, 'ca.crt'),
        },
      }),
    })
  })

  afterEach(() => registry.stop())

  it('that is allowed has the password and gives a token, with which the image comes', async () => {
    const allow = [registry.host, bench.registries[0]?.host ?? '']
    const { files } = await pullFrom(registry, dockerConfig(registry.host), { allow })
    expect(CONTENT.equals(await readFile(files[FILE]?.path ?? ''))).toBe(true)
  })

  it('that is not allowed is not asked', async () => {
    const pull = pullFrom(registry, dockerConfig(registry.host))
    await expect(pull).rejects.toMatchObject({ code: 'OCI_REALM_REFUSED' })
    expect(bench.registries[0]?.requests).toEqual([])
  })

  it('that does not know us ends the pull', async () => {
    const allow = [registry.host, bench.registries[0]?.host ?? '']
    const pull = pullFrom(registry, dockerConfig(registry.host, 'wrong'), { allow })
    await expect(pull).rejects.toMatchObject({ code: 'OCI_CREDENTIALS_REFUSED' })
  })
})

/** @see https://distribution.github.io/distribution/spec/auth/jwt/ */
function accessToken(signer: { certPem: string; keyPem: string }, scope: string): string {
  const [type, name, actions = ''] = scope.split(':')
  const seconds = Math.floor(systemClock.now() / 1000)
  const header = {
    typ: 'JWT',
    alg: 'ES256',
    x5c: [new X509Certificate(signer.certPem).raw.toString('base64')],
  }
  const times = { iat: seconds, nbf: seconds - 10, exp: seconds + 300 }
  const access = [{ type, name, actions: actions.split(',') }]
  const claims = { iss: ISSUER, sub: 'me', aud: SERVICE, jti: randomUUID(), ...times, access }
  const text = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const key = createPrivateKey(signer.keyPem)
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}
