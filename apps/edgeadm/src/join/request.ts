import { request } from 'node:https'
import { messageOf } from '@upgrade-hub/core'
import { JoinError } from './errors.ts'

const TIMEOUT_MS = 30_000
/** A certificate has about 1 KiB, an error less. */
const MAX_ANSWER_BYTES = 64 * 1024

export interface HubRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** PEM of the CA that the hub must be of; `unverified` only for the CA itself, whose hash is compared afterwards. */
  readonly trust: { readonly ca: string; readonly cert?: string; readonly key?: string } | 'unverified'
}

/**
 * One request to the hub; the body of its 200.
 * @throws JoinError EDGEADM_JOIN_UNREACHABLE, EDGEADM_JOIN_REFUSED with the hub's own code and message
 */
export async function askHub(ask: HubRequest): Promise<Buffer> {
  const { status, body } = await exchange(ask).catch((cause: unknown) => {
    const message = `${ask.url.origin} does not answer: ${messageOf(cause)}`
    throw new JoinError('EDGEADM_JOIN_UNREACHABLE', message, { retry: 'backoff', cause })
  })
  if (status === 200) return body
  const retry = status === 429 || status >= 500 ? 'backoff' : 'never'
  throw new JoinError('EDGEADM_JOIN_REFUSED', `the hub answered ${status}: ${sayingOf(body)}`, { retry })
}

function exchange(ask: HubRequest): Promise<{ status: number; body: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: Buffer }>()
  const call = request(
    ask.url,
    {
      method: ask.method,
      headers: { ...ask.headers, ...(ask.body ? { 'content-length': ask.body.length } : {}) },
      agent: false,
      minVersion: 'TLSv1.2',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(ask.trust === 'unverified' ? { rejectUnauthorized: false } : ask.trust),
    },
    (answer) => {
      const chunks: Buffer[] = []
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= MAX_ANSWER_BYTES) chunks.push(chunk)
        else answer.destroy(new Error('the answer is too long'))
      })
      answer.on('error', reject)
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }))
    },
  )
  call.on('error', reject)
  call.end(ask.body)
  return promise
}

/** `{code,message}` of the hub, or what can be read of another server's answer. */
function sayingOf(body: Buffer): string {
  const text = body.toString('utf8', 0, 500)
  try {
    const { code, message } = JSON.parse(text) as { code?: unknown; message?: unknown }
    return `${String(code)} ${String(message)}`
  } catch {
    return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200)
  }
}
