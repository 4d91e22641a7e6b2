import { badRequest, expired, StatusError } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { type ListOptions, listOptions } from '../http/options.ts'
import type { Reply } from '../http/reply.ts'
import { type KubeObject, keyOf } from '../objects.ts'
import { parseFieldSelector } from '../selectors/field-selector.ts'
import { parseLabelSelector } from '../selectors/label-selector.ts'

/** What is after a key in a paged list, and the revision that all pages show. */
interface Continue {
  readonly revision: number
  readonly after: string
}

/** Decides whether a request wants to see an object, given in the version of the request. */
export function selector(call: Call, options: ListOptions): (object: KubeObject) => boolean {
  const labels = parseLabelSelector(options.labelSelector)
  const fields = parseFieldSelector(options.fieldSelector, call.resource)
  return (object) =>
    (call.namespace === undefined || object.metadata.namespace === call.namespace) &&
    labels(object.metadata.labels) &&
    fields.matches(object)
}

/** The stored objects that a request selects now, in the order of their keys. */
export function selectObjects(call: Call, options: ListOptions): readonly KubeObject[] {
  const matches = selector(call, options)
  const { name } = parseFieldSelector(options.fieldSelector, call.resource)
  const objects = call.api.store.all(call.resource.storage)
  const only = name !== undefined && (call.namespace !== undefined || !call.resource.namespaced)
  const keys = only ? [keyOf(call.namespace, name)] : objects.sortedKeys()
  return select(call, { keys, objects, matches })
}

interface Selection {
  readonly keys: readonly string[]
  readonly objects: ReadonlyMap<string, KubeObject>
  readonly matches: (object: KubeObject) => boolean
}

function select(call: Call, { keys, objects, matches }: Selection): readonly KubeObject[] {
  const { resource, namespace } = call
  const prefix = namespace === undefined ? '' : `${namespace}/`
  const found: KubeObject[] = []
  for (const key of keys) {
    const object = key.startsWith(prefix) ? objects.get(key) : undefined
    if (object && matches(resource.fromStorage(object))) found.push(object)
  }
  return found
}

/** GET of a collection. */
export async function list(call: Call): Promise<Reply> {
  const options = listOptions(call.query)
  const page = options.continue ? nextPage(call, options) : firstPage(call, options)
  await call.api.store.settled()
  return page
}

function firstPage(call: Call, options: ListOptions): Reply {
  const { store } = call.api
  const { resourceVersion: wanted, match } = options
  checkRevision(wanted, store.head)
  if (match !== 'Exact' || wanted === undefined)
    return page(call, options, selectObjects(call, options), store.head)
  return page(call, options, snapshot(call, options, { revision: wanted, after: '' }), wanted)
}

/** A revision that is not there yet cannot be waited for. */
export function checkRevision(wanted: number | undefined, head: number): void {
  if (wanted === undefined || wanted <= head) return
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  const message = `Timeout: Too large resource version: ${wanted}, current: ${head}`
  throw new StatusError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 })
}

function nextPage(call: Call, options: ListOptions): Reply {
  const from = decodeContinue(options.continue)
  return page(call, options, snapshot(call, options, from), from.revision)
}

function snapshot(call: Call, options: ListOptions, { revision, after }: Continue): readonly KubeObject[] {
  const { store } = call.api
  const current = store.all(call.resource.storage)
  const objects = revision === store.head ? current : pastObjects(call, revision)
  const keys = (objects === current ? current.sortedKeys() : [...objects.keys()].sort()).filter(
    (key) => key > after,
  )
  return select(call, { keys, objects, matches: selector(call, options) })
}

function pastObjects(call: Call, revision: number): ReadonlyMap<string, KubeObject> {
  const { store } = call.api
  const objects = revision > store.committed ? undefined : store.past(call.resource.storage, revision)
  if (objects) return objects
  throw expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
  )
}

function page(call: Call, options: ListOptions, found: readonly KubeObject[], revision: number): Reply {
  const { limit } = options
  const more = limit > 0 && found.length > limit
  const items = (more ? found.slice(0, limit) : found).map((object) => call.resource.fromStorage(object))
  const last = items.at(-1)
  const isPlain = options.labelSelector === '' && options.fieldSelector === ''
  const rest =
    more && last
      ? { continue: encodeContinue({ revision, after: keyOf(last.metadata.namespace, last.metadata.name) }) }
      : {}
  const count = more && isPlain ? { remainingItemCount: found.length - limit } : {}
  return { status: 200, items, metadata: { resourceVersion: String(revision), ...rest, ...count } }
}

function encodeContinue({ revision, after }: Continue): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\u0000` })).toString(
    'base64url',
  )
}

function decodeContinue(token: string): Continue {
  try {
    const value = JSON.parse(Buffer.from(token, 'base64url').toString()) as { rv?: unknown; start?: unknown }
    if (typeof value.rv === 'number' && typeof value.start === 'string') {
      return { revision: value.rv, after: value.start.slice(0, -1) }
    }
  } catch {
    // Not one of ours: said below.
  }
  throw badRequest('invalid continue token: continue key is not valid')
}
