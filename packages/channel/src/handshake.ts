import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** A handshake that is answered with a status instead of a session. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly retryAfterSeconds?: number
}

/** KubeEdge's path, `/{projectID}/{nodeName}/events`; nothing in it needs percent-encoding. */
const EVENTS_PATH = /^\/[A-Za-z0-9_-]{1,64}\/([a-z0-9.-]{1,253})\/events$/

/** The node that URL and `node_id` header both name, or why the handshake goes no further. */
export function claimedNode(request: IncomingMessage): { nodeName: string } | Refusal {
  if (request.headers.origin !== undefined || request.headers['sec-websocket-origin'] !== undefined) {
    return { status: 403, code: 'ORIGIN_REFUSED', message: 'browsers have no business here' }
  }
  const nodeName = EVENTS_PATH.exec(request.url ?? '')?.[1]
  if (nodeName === undefined) return { status: 404, code: 'NOT_FOUND', message: 'no such path' }
  if (request.headers['node_id'] !== nodeName) return identityConflict()
  return { nodeName }
}

export function identityConflict(): Refusal {
  return {
    status: 403,
    code: 'IdentityConflict',
    message: 'certificate, path and node_id must name the same node',
  }
}

/** Writes the refusal as JSON and ends the connection. */
export function refuseHandshake(socket: Duplex, refusal: Refusal): void {
  const body = JSON.stringify({ code: refusal.code, message: refusal.message })
  const lines = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(refusal.retryAfterSeconds === undefined ? [] : [`Retry-After: ${refusal.retryAfterSeconds}`]),
  ]
  socket.once('finish', () => socket.destroy())
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
