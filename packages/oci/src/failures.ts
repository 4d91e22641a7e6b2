import type { IncomingHttpHeaders } from 'node:http'
import { messageOf } from '@upgrade-hub/core'
import { OciError } from './errors.ts'

const MAX_RETRY_AFTER_MS = 60_000

/** What Node says of a certificate that no waiting mends; one that is not valid yet may be the clock's fault. */
const UNTRUSTED =
  /^(CERT_(?!NOT_YET_VALID)|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|ERR_TLS_CERT_ALTNAME_INVALID|INVALID_CA|HOSTNAME_MISMATCH)/

/** What this host itself refuses: trying again does not help, and the caller knows better what it means. */
const LOCAL = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EMFILE',
  'ENFILE',
  'EACCES',
  'EPERM',
  'EEXIST',
  'EFBIG',
  'EISDIR',
  'ELOOP',
  'ENOTDIR',
  'ENOENT',
])

/** An answer that is no success, at the wall time `now`. Client errors are final but for 408 and 429. */
export function httpFailure(
  status: number,
  what: string,
  headers: IncomingHttpHeaders,
  now: number,
): OciError {
  if (status >= 500 || status === 408 || status === 429) {
    const wait = retryAfterMs(headers['retry-after'], now)
    const more = wait === undefined ? {} : { retryAfterMs: wait }
    return new OciError('OCI_UNREACHABLE', `${what}: answer ${status}`, { retry: 'backoff', ...more })
  }
  if (status === 401 || status === 403)
    return new OciError('OCI_CREDENTIALS_REFUSED', `${what}: answer ${status}, see registry.credentialsFile`)
  if (status === 404 || status === 410)
    return new OciError('OCI_NOT_FOUND', `${what}: answer ${status}, the registry does not have it`)
  return new OciError('OCI_REFUSED', `${what}: answer ${status}`)
}

/** What is neither ours nor this host's came from the connection, so it may go better next time. @throws what is local */
export function networkFailure(error: unknown): OciError {
  if (error instanceof OciError) return error
  const code = codeOf(error)
  if (LOCAL.has(code)) throw error
  if (UNTRUSTED.test(code)) {
    const message = `the registry's certificate is not trusted (${code}), see registry.caFile: ${messageOf(error)}`
    return new OciError('OCI_UNTRUSTED', message, { cause: error })
  }
  return new OciError('OCI_UNREACHABLE', messageOf(error) || code, { retry: 'backoff', cause: error })
}

/** True where another source may do better: what is wrong there says nothing about the image. */
export function isOfSource({ code, edgeCode }: OciError): boolean {
  return edgeCode === 'PullFailed' || edgeCode === 'DigestMismatch' || code === 'OCI_TOO_LONG'
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Seconds or a date. @see RFC 9110 §10.2.3 */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const ms = /^[\d.]+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined
}
