import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { ImageStore } from './image-store.ts'

/** A registry on loopback that speaks the pull half of the distribution API. */
export interface TestRegistry {
  /** `127.0.0.1:{port}` */
  readonly host: string
  /** Asked by HTTPS. */
  readonly isSecure: boolean
  /** `{method} {path}` of everything that was asked. */
  readonly requests: readonly string[]
  /** Every header Range. */
  readonly ranges: readonly string[]
  stop(): Promise<void>
}

/** A certificate and its key, both PEM. */
export interface ServerTls {
  readonly cert: string
  readonly key: string
}

/** Answers a request itself and says true, or leaves it to the registry. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean

/** Serves a store whatever the repository is called. @see https://github.com/opencontainers/distribution-spec */
export async function startTestRegistry(
  store: ImageStore,
  intercept: Intercept = () => false,
  tls?: ServerTls,
): Promise<TestRegistry> {
  const requests: string[] = []
  const ranges: string[] = []
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    if (request.headers.range !== undefined) ranges.push(request.headers.range)
    if (!intercept(request, response)) serve(store, request, response)
  }
  const server = tls ? createTlsServer(tls, answer) : createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { isSecure: tls !== undefined, host: `127.0.0.1:${port}`, requests, ranges, stop }
}

function serve(store: ImageStore, request: IncomingMessage, response: ServerResponse): void {
  const match = /^\/v2\/.+\/(?:manifests|blobs)\/(?<reference>[^/]+)$/.exec(request.url ?? '')
  const reference = match?.groups?.['reference'] ?? ''
  const blob = store.blobs.get(store.tags.get(reference) ?? reference)
  if (!blob) return void response.writeHead(404).end('{"errors":[]}')
  const total = blob.data.length
  const from = Number(/^bytes=(?<from>\d+)-$/.exec(request.headers.range ?? '')?.groups?.['from'] ?? -1)
  if (from >= total) return void response.writeHead(416, { 'content-range': `bytes */${total}` }).end()
  const range = from < 0 ? {} : { 'content-range': `bytes ${from}-${total - 1}/${total}` }
  const data = blob.data.subarray(Math.max(from, 0))
  const headers = { 'content-type': blob.type, 'content-length': data.length, ...range }
  response.writeHead(from < 0 ? 200 : 206, headers).end(data)
}
