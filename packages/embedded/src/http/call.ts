import type { IncomingHttpHeaders } from 'node:http'
import type { Api } from '../api.ts'
import type { Resource } from '../registry/resource.ts'
import type { User } from './authenticator.ts'

/** One request about objects, authenticated and routed. */
export interface Call {
  readonly api: Api
  readonly resource: Resource
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
  readonly method: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly user: User
  /** The whole body; throws 413 above the limit. Read once. */
  body(): Promise<Buffer>
  /** Adds a `Warning` header to the answer. */
  warn(text: string): void
}

/** The name of an object's request; a verb that is routed with one may rely on it. */
export function nameOf(call: Call): string {
  return call.name ?? ''
}

const AGENT_PRODUCT = /^[^/\s]*/
const MANAGER_MAX = 128

/** `fieldManager`, or the product of the user agent. */
export function managerOf(call: Call): string {
  const named = call.query.get('fieldManager')
  return (named || AGENT_PRODUCT.exec(call.headers['user-agent'] ?? '')?.[0] || 'unknown').slice(
    0,
    MANAGER_MAX,
  )
}
