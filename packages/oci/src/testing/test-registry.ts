import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ImageStore } from './image-store.ts'

/** A registry on loopback that speaks the pull half of the distribution API. */
export interface TestRegistry {
  /** `127.0.0.1:{port}` */
  readonly host: string
  /** `{method} {path}` of everything that was asked. */
  readonly requests: readonly string[]
  stop(): Promise<void>
}

/** Answers a request itself and says true, or leaves it to the registry. */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean

/** Serves a store whatever the repository is called. @see https://github.com/opencontainers/distribution-spec */
export async function startTestRegistry(
  store: ImageStore,
  intercept: Intercept = () => false,
): Promise<TestRegistry> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    if (!intercept(request, response)) serve(store, request.url ?? '', response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return { host: `127.0.0.1:${port}`, requests, stop }
}

function serve(store: ImageStore, url: string, response: ServerResponse): void {
  const match = /^\/v2\/.+\/(?:manifests|blobs)\/(?<reference>[^/]+)$/.exec(url)
  const reference = match?.groups?.['reference'] ?? ''
  const blob = store.blobs.get(store.tags.get(reference) ?? reference)
  if (!blob) return void response.writeHead(404).end('{"errors":[]}')
  response.writeHead(200, { 'content-type': blob.type, 'content-length': blob.data.length }).end(blob.data)
}
