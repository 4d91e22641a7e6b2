import type { IncomingMessage } from 'node:http'
import { badRequest, tooLarge } from '../errors.ts'

/** As kube-apiserver's `MaxRequestBodyBytes`. */
const BODY_MAX_BYTES = 3 * 1024 * 1024

/** Reads a whole body. Throws 413 above the limit and 400 when the client goes away. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > BODY_MAX_BYTES) throw bodyTooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > BODY_MAX_BYTES) break
      chunks.push(chunk)
    }
  } catch {
    throw badRequest('the body ended before its end')
  }
  if (bytes > BODY_MAX_BYTES) throw bodyTooLarge()
  return Buffer.concat(chunks)
}

function bodyTooLarge() {
  return tooLarge(`Request entity too large: limit is ${BODY_MAX_BYTES}`)
}
