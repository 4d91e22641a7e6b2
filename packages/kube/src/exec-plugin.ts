import { execFile } from 'node:child_process'
import type { Clock } from '@upgrade-hub/core'
import type { ExecPlugin } from './access.ts'
import { pluginEnvironment } from './environment.ts'
import { CredentialError } from './errors.ts'
import type { Loaded } from './renewing.ts'

/** What a plugin hands out: a token, or a client certificate with its key, as PEM. */
export interface ExecCredential {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

const TIMEOUT_MS = 60_000
const MAX_OUTPUT_BYTES = 1024 * 1024
/** A credential without an end is asked for again after this long, or when the server refuses it. */
const ENDLESS_REFRESH_MS = 3_600_000
const MAX_EARLY_MS = 300_000

/**
 * Runs the plugin once. @throws CredentialError
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 */
export async function runExecPlugin(plugin: ExecPlugin, clock: Clock): Promise<Loaded<ExecCredential>> {
  const text = await run(plugin)
  const status = parse(plugin, text)
  return { value: credentialOf(plugin, status), ...lifetime(status.expirationTimestamp, clock.now()) }
}

/** When to renew: a fifth of the life before its end, at most 5 minutes early. Pure. */
function lifetime(
  expirationTimestamp: string | undefined,
  now: number,
): { refreshInMs: number; expiresInMs?: number } {
  const expiry = Date.parse(expirationTimestamp ?? '')
  if (Number.isNaN(expiry)) return { refreshInMs: ENDLESS_REFRESH_MS }
  const left = Math.max(0, expiry - now)
  return { refreshInMs: left - Math.min(MAX_EARLY_MS, left / 5), expiresInMs: left }
}

interface ExecStatus {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
  readonly expirationTimestamp?: string
}

function run(plugin: ExecPlugin): Promise<string> {
  const { cluster } = plugin
  const info = {
    apiVersion: plugin.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(cluster ? { cluster } : {}) },
  }
  const env = pluginEnvironment({ ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) })
  const limits = { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, killSignal: 'SIGKILL' as const }
  return new Promise((resolve, reject) => {
    const child = execFile(plugin.command, [...plugin.args], { env, ...limits }, (error, stdout) => {
      // The error's own message repeats arguments, which may hold secrets; its code says enough.
      if (error) reject(failed(plugin, `ended with ${error.signal ?? error.code ?? 'an error'}`))
      else resolve(stdout)
    })
    child.stdin?.end()
  })
}

function parse(plugin: ExecPlugin, text: string): ExecStatus {
  try {
    const answer = JSON.parse(text) as { kind?: string; status?: ExecStatus }
    if (answer.kind === 'ExecCredential' && answer.status) return answer.status
  } catch {
    // The text may hold a token and must not travel in an error; the sentence below is all that is said.
  }
  throw failed(plugin, 'did not print an ExecCredential with a status')
}

function credentialOf(plugin: ExecPlugin, status: ExecStatus): ExecCredential {
  const { token, clientCertificateData: cert, clientKeyData: key } = status
  if (!token && !(cert && key)) throw failed(plugin, 'gave neither a token nor a certificate with its key')
  return { ...(token ? { token } : {}), ...(cert && key ? { cert, key } : {}) }
}

function failed(plugin: ExecPlugin, what: string): CredentialError {
  return new CredentialError(`the credential plugin ${plugin.command} ${what}`)
}
