import type { FakeObject, FakeObjects } from './fake-objects.ts'
import type { FakeRequest, Target } from './fake-request.ts'

/** An answer of the fake server. */
export interface FakeAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Record<string, string>
}

const QUERY = new Set(
  'limit continue resourceVersion resourceVersionMatch labelSelector fieldSelector timeout timeoutSeconds watch allowWatchBookmarks sendInitialEvents fieldManager force dryRun'.split(
    ' ',
  ),
)
const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/
const MICRO_TIME_FIELDS = ['acquireTime', 'renewTime', 'eventTime', 'lastObservedTime']

/** A Status, as every refusal of an API server is. */
export function refuse(
  status: number,
  reason: string,
  message: string,
  headers?: Record<string, string>,
): FakeAnswer {
  const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message }
  return { status, body, ...(headers ? { headers } : {}) }
}

/** Answers anything but a watch, as strictly as the real server where our client could get it wrong. */
export function answer(objects: FakeObjects, request: FakeRequest): FakeAnswer {
  const { target, method, query } = request
  if (!target) return refuse(404, 'NotFound', `the server could not find ${request.path}`)
  for (const name of query.keys()) {
    if (!QUERY.has(name)) return refuse(400, 'BadRequest', `unknown query parameter ${name}`)
  }
  if (method === 'GET') return target.name ? get(objects, target) : list(objects, target, query)
  if (method === 'DELETE') return remove(objects, target, request.body)
  if (method === 'POST') return create(objects, target, request)
  if (method === 'PUT') return replace(objects, target, request)
  if (method === 'PATCH') return patch(objects, target, request)
  return refuse(405, 'MethodNotAllowed', method)
}

/** True when an object of `collection` is asked for by `target`. */
export function covers(target: Target): (collection: string) => boolean {
  if (target.namespace) return (collection) => collection === target.collection
  const plural = target.kindPath.slice(target.kindPath.lastIndexOf('/'))
  const root = target.kindPath.slice(0, -plural.length)
  return (collection) => collection.startsWith(root) && collection.endsWith(plural)
}

/** What a field selector of equalities lets through; every field can be selected here. */
export function selectedBy(query: URLSearchParams): (object: FakeObject) => boolean {
  const terms =
    query
      .get('fieldSelector')
      ?.split(',')
      .map((term) => term.split('=')) ?? []
  return (object) => terms.every(([path = '', value]) => (fieldOf(object, path) ?? '') === value)
}

function fieldOf(object: unknown, path: string): unknown {
  return path.split('.').reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], object)
}

function get(objects: FakeObjects, target: Target): FakeAnswer {
  const found = objects.get(pathOf(target))
  return found ? { status: 200, body: found } : notFound(target)
}

/** Servers leave apiVersion and kind out of the items of a list. */
function list(objects: FakeObjects, target: Target, query: URLSearchParams): FakeAnswer {
  const [version, start] = (query.get('continue') ?? `${objects.version}:0`).split(':').map(Number)
  if (version === undefined || start === undefined || version < objects.oldest) {
    return refuse(410, 'Expired', 'The provided continue parameter is too old')
  }
  const all = objects.list(covers(target)).filter(selectedBy(query))
  const end = start + (Number(query.get('limit')) || all.length)
  const more = end < all.length ? { continue: `${version}:${end}`, remainingItemCount: all.length - end } : {}
  const items = all.slice(start, end).map((item) => ({ ...item, apiVersion: undefined, kind: undefined }))
  return {
    status: 200,
    body: { kind: 'List', metadata: { resourceVersion: String(version), ...more }, items },
  }
}

function create(objects: FakeObjects, target: Target, request: FakeRequest): FakeAnswer {
  const body = parse(request, 'application/json')
  if ('status' in body) return body
  const { object } = body
  const path = `${target.collection}/${object.metadata.name}`
  if (!object.metadata.name || object.metadata.resourceVersion) {
    return refuse(422, 'Invalid', 'metadata.name is needed, metadata.resourceVersion must not be set')
  }
  if (objects.get(path)) return refuse(409, 'AlreadyExists', `${object.metadata.name} already exists`)
  if (request.query.get('dryRun') === 'All') return { status: 201, body: object }
  return { status: 201, body: objects.put(target.collection, path, object) }
}

function replace(objects: FakeObjects, target: Target, request: FakeRequest): FakeAnswer {
  const body = parse(request, 'application/json')
  if ('status' in body) return body
  const old = objects.get(pathOf(target))
  if (!old) return notFound(target)
  const { object } = body
  const version = object.metadata.resourceVersion
  if (version && version !== old.metadata.resourceVersion) return conflict(target)
  return { status: 200, body: objects.put(target.collection, pathOf(target), object) }
}

function patch(objects: FakeObjects, target: Target, request: FakeRequest): FakeAnswer {
  const old = objects.get(pathOf(target))
  if (!old) return notFound(target)
  const body = parse(request, 'application/merge-patch+json')
  if ('status' in body) return body
  const { resourceVersion } = body.object.metadata ?? {}
  if (resourceVersion && resourceVersion !== old.metadata.resourceVersion) return conflict(target)
  const merged = merge(old, body.object) as FakeObject
  return { status: 200, body: objects.put(target.collection, pathOf(target), merged) }
}

function remove(objects: FakeObjects, target: Target, text: string): FakeAnswer {
  if (!target.name) return refuse(405, 'MethodNotAllowed', 'this server does not delete collections')
  const old = objects.get(pathOf(target))
  if (!old) return notFound(target)
  const { preconditions } = JSON.parse(text || '{}') as {
    preconditions?: { uid?: string; resourceVersion?: string }
  }
  const { uid, resourceVersion } = old.metadata
  if ((preconditions?.uid ?? uid) !== uid) return conflict(target)
  if ((preconditions?.resourceVersion ?? resourceVersion) !== resourceVersion) return conflict(target)
  objects.delete(pathOf(target))
  return { status: 200, body: { kind: 'Status', status: 'Success' } }
}

function parse(request: FakeRequest, contentType: string): { object: FakeObject } | FakeAnswer {
  if (request.headers['content-type'] !== contentType) {
    return refuse(415, 'UnsupportedMediaType', `this server takes ${contentType} here`)
  }
  const object = JSON.parse(request.body) as FakeObject
  const bad = badMicroTime(object)
  return bad
    ? refuse(400, 'BadRequest', `parsing time ${bad} as 2006-01-02T15:04:05.000000Z07:00`)
    : { object }
}

function badMicroTime(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, inner] of Object.entries(value)) {
    if (MICRO_TIME_FIELDS.includes(name) && typeof inner === 'string' && !MICRO_TIME.test(inner)) return inner
    const bad = badMicroTime(inner)
    if (bad) return bad
  }
  return undefined
}

/** RFC 7386. */
function merge(into: unknown, from: unknown): unknown {
  if (typeof from !== 'object' || from === null || Array.isArray(from)) return from
  const result: Record<string, unknown> = { ...(into as Record<string, unknown>) }
  for (const [name, value] of Object.entries(from)) {
    if (value === null) delete result[name]
    else result[name] = merge(result[name], value)
  }
  return result
}

function pathOf(target: Target): string {
  return `${target.collection}/${target.name}`
}

function notFound(target: Target): FakeAnswer {
  return refuse(404, 'NotFound', `${target.kindPath} "${target.name}" not found`)
}

function conflict(target: Target): FakeAnswer {
  return refuse(
    409,
    'Conflict',
    `Operation cannot be fulfilled on "${target.name}": the object has been modified`,
  )
}
