import type { Duplex } from 'node:stream'
import { HubError, type Logger } from '@upgrade-hub/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../errors.ts'

/** Fastify's own errors, as far as a peer can cause them. */
const FRAMEWORK: Readonly<Record<string, HttpError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new HttpError(413, 'TOO_LARGE', 'the body is too large'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new HttpError(
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    'this content type is not read here',
  ),
  FST_ERR_BAD_URL: new HttpError(404, 'NOT_FOUND', 'there is nothing at this path'),
  FST_ERR_ASYNC_CONSTRAINT: new HttpError(404, 'NOT_FOUND', 'there is nothing at this path'),
}

/** Answers any error as JSON. What nobody foresaw becomes 500 `INTERNAL`, and only the log knows more. */
export function answerError(error: unknown, reply: FastifyReply, log: Logger): FastifyReply {
  const http = httpErrorOf(error)
  // A refusal that was meant is counted; logging each would let a peer fill the disk.
  if (http.status >= 500 && http !== error) log.warn({ err: error, code: http.code }, 'request failed')
  if (http.retryAfterSeconds !== undefined) reply.header('retry-after', String(http.retryAfterSeconds))
  // The rest of a refused body is not worth reading.
  if (http.status === 413) reply.header('connection', 'close')
  return reply.code(http.status).send({ code: http.code, message: http.message })
}

export function answerUnknownRoute(_: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ code: 'NOT_FOUND', message: 'there is nothing at this path' })
}

function httpErrorOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof HubError && error.retry !== 'never') {
    return new HttpError(503, 'UNAVAILABLE', 'not possible right now', { retryAfterSeconds: 5 })
  }
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number }
  const known = FRAMEWORK[code]
  if (known) return known
  if (statusCode >= 400 && statusCode < 500)
    return new HttpError(400, 'MALFORMED', 'the request is not well formed')
  return new HttpError(500, 'INTERNAL', 'this should not have happened')
}

const BROKEN: Readonly<Record<string, [status: string, code: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'TIMEOUT', 'the request took too long'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'TOO_LARGE', 'the headers are too large'],
}

/** What is no HTTP, too slow or too long is answered once, if it still can be, and cut off. */
export function onBrokenRequest(error: Error & { code?: string }, socket: Duplex): void {
  // Before the handshake is over nothing can be written: the answer would wait, and the socket with it.
  const isHttp = /^(HPE_|ERR_HTTP_)/.test(error.code ?? '')
  if (!isHttp || !socket.writable) return void socket.destroy()
  const [status, code, message] = BROKEN[error.code ?? ''] ?? [
    '400 Bad Request',
    'MALFORMED',
    'this is not HTTP/1.1',
  ]
  const body = JSON.stringify({ code, message })
  const head = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
  socket.end(`${head}\r\n\r\n${body}`, () => socket.destroy())
}
