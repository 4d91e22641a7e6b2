import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../api.ts'
import { aggregated, apiGroup, apiGroups, apiResources, coreVersions } from '../discovery/discovery.ts'
import { openApiV2 } from '../discovery/openapi-v2.ts'
import { openApiDocument, openApiIndex, openApiPaths } from '../discovery/openapi-v3.ts'
import { methodNotAllowed } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { parseAccept } from './negotiate.ts'
import { respond, respondText } from './respond.ts'

/** The Kubernetes whose API this is. */
const VERSION: JsonObject = {
  major: '1',
  minor: '37',
  gitVersion: 'v1.37.2+upgradehub',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
}

const HEALTH = /^\/(?:healthz|livez|readyz)(?:\/|$)/
const MAX_CACHED = 64

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
}

/** What is answered without a token: health and version, as `system:public-info-viewer` may see. */
export function isPublic(pathname: string): boolean {
  return HEALTH.test(pathname) || pathname === '/version' || pathname === '/version/'
}

/** Answers what is not about objects; false when there is nothing at the path. Throws 405. */
export async function serveStatic(api: Api, { request, response, url }: Exchange): Promise<boolean> {
  const path = url.pathname.replace(/\/$/, '')
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
  if (HEALTH.test(path)) {
    await serveHealth(api, { request, response, url })
    return true
  }
  const document = path === '/version' ? { body: VERSION } : discover(api, request, path)
  if (!document) return false
  respond(response, { status: 200, ...document })
  return true
}

/** Healthy is who could commit what was written. */
async function serveHealth(api: Api, { response, url }: Exchange): Promise<void> {
  await api.store.settled()
  const name = url.pathname.split('/')[1] ?? ''
  respondText(
    response,
    200,
    url.searchParams.has('verbose') ? `[+]ping ok\n[+]store ok\n${name} check passed\n` : 'ok',
  )
}

interface Document {
  readonly body: JsonObject
  readonly contentType?: string
}

function discover(api: Api, request: IncomingMessage, path: string): Document | undefined {
  const { registry } = api
  const [root = '', group = '', version = ''] = path.split('/').slice(1)
  if (root === 'openapi') return openApi(api, path)
  if (path === '/api' || path === '/apis')
    return aggregatedFor(api, request, path === '/api' ? 'api' : 'apis') ?? plainRoot(api, request, path)
  if (root === 'api') return documentOf(apiResources(registry, '', group))
  if (root !== 'apis') return undefined
  return documentOf(version ? apiResources(registry, group, version) : apiGroup(registry, group))
}

function documentOf(body: JsonObject | undefined): Document | undefined {
  return body && { body }
}

function plainRoot(api: Api, request: IncomingMessage, path: string): Document {
  if (path === '/apis') return { body: apiGroups(api.registry) }
  return { body: coreVersions(request.headers.host ?? '') }
}

/** The aggregated form, in the newest version that the client takes before plain JSON. */
function aggregatedFor(api: Api, request: IncomingMessage, root: 'api' | 'apis'): Document | undefined {
  for (const { type, parameters } of parseAccept(request.headers.accept)) {
    if (type !== 'application/json') continue
    const version = parameters.get('v') ?? ''
    if (parameters.get('as') === undefined) return undefined
    if (parameters.get('as') !== 'APIGroupDiscoveryList' || !['v2', 'v2beta1'].includes(version)) continue
    return {
      body: aggregated(api.registry, root, `apidiscovery.k8s.io/${version}`),
      contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    }
  }
  return undefined
}

interface Cache {
  generation: number
  readonly documents: Map<string, JsonObject>
}

const caches = new WeakMap<Api, Cache>()

function openApi(api: Api, path: string): Document | undefined {
  const { generation } = api.registry
  const cache = caches.get(api) ?? { generation, documents: new Map() }
  if (cache.generation !== generation || cache.documents.size > MAX_CACHED) {
    cache.documents.clear()
    cache.generation = generation
  }
  caches.set(api, cache)
  const known = cache.documents.get(path) ?? makeOpenApi(api, path)
  if (known) cache.documents.set(path, known)
  return documentOf(known)
}

function makeOpenApi({ registry }: Api, path: string): JsonObject | undefined {
  if (path === '/openapi/v2') return openApiV2(registry)
  if (path === '/openapi/v3') return openApiIndex(registry)
  const gv = openApiPaths(registry).get(path.replace('/openapi/v3/', ''))
  return gv && openApiDocument(registry, gv)
}
