import { once } from 'node:events'
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

const LAST_ANSWERS_MS = 1000

export interface Listening {
  readonly port: number
  /** Lets the answers that are under way be finished for a second, then closes every connection. */
  close(clock: Clock): Promise<void>
}

/** Listens for HTTPS with caps on time, size and number. Throws ListenError when the port is taken. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const server = createServer({
    cert: options.tls.cert,
    key: options.tls.key,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    noDelay: true,
  })
  server.maxConnections = MAX_CONNECTIONS
  const answers = new Set<Promise<void>>()
  server.on('request', (request, response) => {
    const answered = ended(response)
    answers.add(answered)
    void answered.then(() => answers.delete(answered))
    options.handle(request, response)
  })
  await bind(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    close: async (clock) => {
      // Not closed first: that would cut off answers that are ended and not yet sent.
      await Promise.race([Promise.all(answers), patience(clock)])
      await closed(server)
    },
  }
}

async function bind(server: Server, { host, port }: ListenOptions): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    throw new ListenError(`cannot listen on ${host}:${port}: ${messageOf(error)}`, error)
  }
}

async function ended(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  response.once('close', resolve)
  await promise
}

async function patience(clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  clock.after(LAST_ANSWERS_MS, resolve)
  await promise
}

async function closed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}
