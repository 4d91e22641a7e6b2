import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Clock, messageOf } from '@upgrade-hub/core'
import { ListenError } from '../errors.ts'

export interface TlsMaterial {
  /** PEM. */
  readonly cert: string
  readonly key: string
  readonly ca: string
}

export interface ListenOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly tls: TlsMaterial
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
}

const MAX_CONNECTIONS = 12_000
const HEADERS_MS = 10_000
/** A whole request must be in by then; answers, as watches, may take longer. */
const REQUEST_MS = 60_000
const KEEP_ALIVE_MS = 120_000
const MAX_HEADER_BYTES = 32 * 1024

/** Listens for HTTPS with caps on time, size and number. Throws ListenError when the port is taken. */
export async function listen({ host, port, tls, handle }: ListenOptions): Promise<Server> {
  const server = createServer({
    cert: tls.cert,
    key: tls.key,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  })
  server.maxConnections = MAX_CONNECTIONS
  server.on('request', handle)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  try {
    await promise
  } catch (error) {
    throw new ListenError(`cannot listen on ${host}:${port}: ${messageOf(error)}`, error)
  }
  server.off('error', reject)
  return server
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

const LAST_ANSWERS_MS = 1000

/** Takes no more connections, lets the answers that are under way be finished for a second, and cuts off the rest. */
export async function closeServer(server: Server, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeIdleConnections()
  const patience = clock.after(LAST_ANSWERS_MS, () => server.closeAllConnections())
  await promise
  patience.cancel()
}
