import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Descriptor, MEDIA } from './image-layout.ts'

const REF = 'org.opencontainers.image.ref.name'
const ROUTE =
  /^\/v2\/(?<name>[a-z0-9][a-z0-9._/-]{0,254})\/(?<kind>manifests|blobs)\/(?<ref>[A-Za-z0-9_][A-Za-z0-9._:-]{0,254})$/
const DIGEST = /^sha256:[a-f0-9]{64}$/

/** A read-only OCI registry on loopback, over one image layout whatever the repository is called. */
export interface Registry {
  readonly host: string
  stop(): Promise<void>
}

/** @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pull */
export async function startRegistry(layout: string, port = 0): Promise<Registry> {
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    answer(layout, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => close(server) }
}

async function answer(layout: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, 'UNSUPPORTED')
  if (request.url === '/v2/') return void response.writeHead(200).end('{}')
  const match = ROUTE.exec(request.url ?? '')?.groups
  if (!match) return refuse(response, 404, 'NAME_UNKNOWN')
  const ref = match['ref'] ?? ''
  const digest = DIGEST.test(ref) ? ref : await digestOfTag(layout, ref)
  if (!digest) return refuse(response, 404, 'MANIFEST_UNKNOWN')
  await sendBlob(
    join(layout, 'blobs', digest.replace(':', '/')),
    { digest, manifest: match['kind'] === 'manifests' },
    request,
    response,
  )
}

async function digestOfTag(layout: string, tag: string): Promise<string | undefined> {
  const index = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as { manifests: Descriptor[] }
  return index.manifests.find((descriptor) => descriptor.annotations?.[REF] === tag)?.digest
}

async function sendBlob(
  file: string,
  what: { digest: string; manifest: boolean },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const size = await stat(file).then(
    (found) => found.size,
    () => undefined,
  )
  if (size === undefined) return refuse(response, 404, 'BLOB_UNKNOWN')
  const start = Number(/^bytes=(\d{1,15})-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
  const partial = start > 0 && start < size
  response.writeHead(partial ? 206 : 200, {
    'content-type': what.manifest ? await mediaTypeOf(file) : 'application/octet-stream',
    'content-length': partial ? size - start : size,
    'docker-content-digest': what.digest,
    'accept-ranges': 'bytes',
    ...(partial ? { 'content-range': `bytes ${start}-${size - 1}/${size}` } : {}),
  })
  if (request.method === 'HEAD') return void response.end()
  createReadStream(file, { start: partial ? start : 0 }).pipe(response)
}

async function mediaTypeOf(file: string): Promise<string> {
  return (JSON.parse(await readFile(file, 'utf8')) as { mediaType?: string }).mediaType ?? MEDIA.manifest
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ errors: [{ code, message: code.toLowerCase().replaceAll('_', ' ') }] }))
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
