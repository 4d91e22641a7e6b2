import type { IncomingMessage, ServerResponse } from 'node:http'
import { messageOf } from '@upgrade-hub/core'
import type { Api } from '../api.ts'
import {
  badRequest,
  internalError,
  methodNotAllowed,
  notFound,
  resourceNotFound,
  StatusError,
  tooManyRequests,
} from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { hasStatus, type Resource, type Subresource } from '../registry/resource.ts'
import { create } from '../verbs/create.ts'
import { deleteCollection, deleteOne } from '../verbs/delete.ts'
import { evict } from '../verbs/eviction.ts'
import { get } from '../verbs/get.ts'
import { list } from '../verbs/list.ts'
import { patch } from '../verbs/patch.ts'
import { answerReview, findReview } from '../verbs/reviews.ts'
import { update } from '../verbs/update.ts'
import { watch } from '../verbs/watch.ts'
import type { User } from './authenticator.ts'
import { readBody } from './body.ts'
import type { Call } from './call.ts'
import { type Accepted, negotiate } from './negotiate.ts'
import { parsePayload } from './payload.ts'
import { renderList, renderObject } from './render.ts'
import { includeOf, type Reply } from './reply.ts'
import { respond, respondText } from './respond.ts'
import { type ObjectRoute, parseRoute } from './route.ts'
import { isPublic, serveStatic } from './static-routes.ts'

const MAX_IN_FLIGHT = 400

/** Answers every request: who, what, then the verb. Nothing that is thrown leaves it. */
export class Handler {
  readonly #api: Api
  #inFlight = 0

  constructor(api: Api) {
    this.#api = api
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const warnings: string[] = []
    void this.#limited(request, response, warnings).catch((error: unknown) =>
      this.#fail(response, error, warnings),
    )
  }

  async #limited(request: IncomingMessage, response: ServerResponse, warnings: string[]): Promise<void> {
    if (this.#inFlight >= MAX_IN_FLIGHT)
      throw tooManyRequests('Too many requests, please try again later.', 1)
    this.#inFlight += 1
    try {
      await this.#route(request, response, warnings)
    } finally {
      this.#inFlight -= 1
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, warnings: string[]): Promise<void> {
    const url = URL.parse(request.url ?? '/', 'https://localhost')
    if (!url) throw resourceNotFound()
    if (isPublic(url.pathname)) {
      await serveStatic(this.#api, { request, response, url })
      return
    }
    const user = this.#api.authenticator.authenticate(request.headers.authorization)
    const route = parseRoute(url.pathname)
    if (!route) {
      const served = await serveStatic(this.#api, { request, response, url })
      if (!served) respondText(response, 404, '404 page not found\n')
      return
    }
    await this.#objects({ request, response, url, route, user }, warnings)
  }

  async #objects({ request, response, url, route, user }: Exchange, warnings: string[]): Promise<void> {
    const review = route.name ? undefined : findReview(route.group, route.version, route.plural)
    if (review) {
      if (request.method !== 'POST') throw methodNotAllowed()
      const { value } = parsePayload(await readBody(request), request.headers['content-type'], review)
      respond(response, { status: 201, body: answerReview(this.#api, review, { body: value, user }) })
      return
    }
    const resource = this.#find(route)
    if (!resource) {
      if (this.#api.registry.inVersion(route.group, route.version).some((r) => !r.custom))
        throw resourceNotFound()
      respondText(response, 404, '404 page not found\n')
      return
    }
    if (resource.deprecation) warnings.push(resource.deprecation)
    const call = this.#call(resource, { request, response, url, route, user }, warnings)
    const accepted = negotiate(request.headers.accept, resource.custom)
    if (isWatch(call)) await watch(call, response, accepted)
    else this.#answer(call, response, { accepted, reply: await dispatch(call), warnings })
  }

  #find({ group, version, plural, subresource, namespace, name }: ObjectRoute): Resource | undefined {
    const resource = this.#api.registry.find(group, version, plural)
    if (!resource || (namespace !== undefined && !resource.namespaced)) return undefined
    const known = subresource === undefined || resource.subresources.includes(subresource as Subresource)
    if (!known && resource.custom) throw notFound(resource, name ?? '')
    return known ? resource : undefined
  }

  #call(resource: Resource, { request, url, route, user }: Exchange, warnings: string[]): Call {
    let body: Promise<Buffer> | undefined
    return {
      api: this.#api,
      resource,
      namespace: route.namespace,
      name: route.name,
      subresource: route.subresource,
      method: request.method ?? 'GET',
      query: url.searchParams,
      headers: request.headers,
      user,
      body: () => (body ??= readBody(request)),
      warn: (text) => warnings.push(text),
    }
  }

  #answer(call: Call, response: ServerResponse, { accepted, reply, warnings }: Finished): void {
    const body = shape(call, reply, accepted)
    respond(response, { status: reply.status, body, yaml: accepted.yaml }, warnings)
  }

  #fail(response: ServerResponse, error: unknown, warnings: readonly string[]): void {
    const status = error instanceof StatusError ? error : internalError(messageOf(error))
    if (!(error instanceof StatusError)) this.#api.log.error({ error: messageOf(error) }, 'a request failed')
    if (response.headersSent || response.destroyed) {
      response.destroy()
      return
    }
    const wait = status.statusDetails?.retryAfterSeconds
    const headers = wait === undefined ? {} : { 'retry-after': String(wait) }
    // The rest of a body that was not read must not be taken for the next request.
    if (!response.req.complete) response.setHeader('connection', 'close')
    respond(response, { status: status.status, body: status.body() as JsonObject, headers }, warnings)
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly route: ObjectRoute
  readonly user: User
}

interface Finished {
  readonly accepted: Accepted
  readonly reply: Reply
  readonly warnings: readonly string[]
}

function isWatch(call: Call): boolean {
  const wanted = call.query.get('watch')
  return call.method === 'GET' && call.subresource === undefined && (wanted === '1' || wanted === 'true')
}

function shape(call: Call, reply: Reply, accepted: Accepted): JsonObject {
  if ('plain' in reply) return reply.plain
  const options = { include: includeOf(call.query), now: call.api.clock.now(), headers: true }
  if ('object' in reply) return renderObject(call.resource, reply.object, accepted, options)
  return renderList(call.resource, reply, accepted, options)
}

/** The verb that a method and a path mean. Throws 405 for what the resource does not do. */
async function dispatch(call: Call): Promise<Reply> {
  if (call.name === undefined) return await dispatchCollection(call)
  if (call.resource.namespaced && call.namespace === undefined) throw methodNotAllowed()
  if (call.subresource === 'eviction') {
    if (call.method !== 'POST') throw methodNotAllowed()
    return await evict(call)
  }
  return await dispatchObject(call)
}

async function dispatchCollection(call: Call): Promise<Reply> {
  const everywhere = call.resource.namespaced && call.namespace === undefined
  if (call.method === 'GET') return await list(call)
  if (everywhere) throw methodNotAllowed()
  if (call.resource.custom && ['PUT', 'PATCH'].includes(call.method))
    throw badRequest('name must be provided')
  if (call.method === 'POST') return await create(call)
  if (call.method === 'DELETE' && call.resource.verbs.includes('deletecollection'))
    return await deleteCollection(call)
  throw methodNotAllowed()
}

async function dispatchObject(call: Call): Promise<Reply> {
  const isWhole = call.subresource === undefined
  switch (call.method) {
    case 'GET':
      return await get(call)
    case 'PUT':
      return await update(call)
    case 'PATCH':
      if (!isWhole && !hasStatus(call.resource)) throw notFound(call.resource, call.name ?? '')
      return await patch(call)
    case 'DELETE':
      if (!isWhole) throw methodNotAllowed()
      return await deleteOne(call)
    default:
      throw methodNotAllowed()
  }
}
