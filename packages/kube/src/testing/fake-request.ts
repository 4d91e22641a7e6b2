import type { IncomingMessage } from 'node:http'

/** A request as the fake server understands it. */
export interface FakeRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly isWatch: boolean
  readonly target: Target | undefined
}

/** What a path names. */
export interface Target {
  readonly apiVersion: string
  /** The path of the collection without its namespace: events and lists meet here. */
  readonly kindPath: string
  /** The path of the collection as asked for. */
  readonly collection: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
}

const PATH =
  /^\/(?:api\/(?<core>v1)|apis\/(?<group>[^/]+\/[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<plural>[a-z]+)(?:\/(?<name>[^/]+))?(?:\/(?<sub>[a-z]+))?$/

export async function readRequest(message: IncomingMessage): Promise<FakeRequest> {
  const url = new URL(message.url ?? '/', 'http://fake')
  const chunks: Buffer[] = []
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk)
  return {
    method: message.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: message.headers,
    body: Buffer.concat(chunks).toString('utf8'),
    // The real server takes any form of true; a fake that knows one form would hide a client's mistake.
    isWatch: ['true', '1'].includes(url.searchParams.get('watch') ?? ''),
    target: parseTarget(url.pathname),
  }
}

function parseTarget(path: string): Target | undefined {
  const groups = PATH.exec(path)?.groups
  if (!groups) return undefined
  const apiVersion = groups['core'] ?? groups['group'] ?? ''
  const root = groups['core'] ? '/api/v1' : `/apis/${apiVersion}`
  const namespace = groups['namespace']
  const plural = groups['plural'] ?? ''
  return {
    apiVersion,
    kindPath: `${root}/${plural}`,
    collection: namespace ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`,
    namespace,
    name: groups['name'] && decodeURIComponent(groups['name']),
    subresource: groups['sub'],
  }
}
