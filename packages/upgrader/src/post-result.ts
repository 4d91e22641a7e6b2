import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { messageOf } from '@upgrade-hub/core'
import { LIMITS, type Result } from '@upgrade-hub/protocol'
import type { EdgeConfig } from './config.ts'
import type { PostOutcome } from './types.ts'

/** What the hub answers for good, besides 200 (protocol.md 2). */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404, 413])
const MAX_ANSWER_BYTES = 16 * 1024
const MAX_RETRY_AFTER_S = 3600

interface HttpAnswer {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
}

/** Posts a result to `/nodeupgrade` with the node's certificate, once; never throws. */
export async function postResult(
  config: EdgeConfig,
  result: Result,
  signal?: AbortSignal,
): Promise<PostOutcome> {
  try {
    return judge(await post(config, JSON.stringify(result), signal))
  } catch (error) {
    return { kind: 'retry', why: messageOf(error) }
  }
}

function judge({ status, body, retryAfter }: HttpAnswer): PostOutcome {
  if (status === 200) return { kind: 'stored' }
  if (FINAL.has(status)) return { kind: 'rejected', status, why: body.slice(0, 300) }
  const seconds = Number(retryAfter)
  const wait = seconds > 0 ? { afterMs: Math.min(seconds, MAX_RETRY_AFTER_S) * 1000 } : {}
  return { kind: 'retry', why: `HTTP ${status}`, ...wait }
}

async function post(config: EdgeConfig, body: string, signal?: AbortSignal): Promise<HttpAnswer> {
  const { certificates } = config
  const [ca, cert, key] = await Promise.all([
    readFile(certificates.ca),
    readFile(certificates.cert),
    readFile(certificates.key),
  ])
  const timeout = AbortSignal.timeout(LIMITS.requestTimeoutMs)
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  const options = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    ca,
    cert,
    key,
    agent: false as const,
    signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
  }
  const call = request(new URL('/nodeupgrade', config.hub.https), options, (answer) => {
    const chunks: Buffer[] = []
    let size = 0
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= MAX_ANSWER_BYTES) chunks.push(chunk)
      else answer.destroy(new Error('the answer is too long'))
    })
    answer.on('error', reject)
    answer.on('end', () => {
      const status = answer.statusCode ?? 0
      resolve({
        status,
        body: Buffer.concat(chunks).toString('utf8'),
        retryAfter: answer.headers['retry-after'],
      })
    })
  })
  call.on('error', reject)
  call.end(body)
  return promise
}
