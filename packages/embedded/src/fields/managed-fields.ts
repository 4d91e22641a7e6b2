import { assign, type JsonObject, objectAt } from '../json.ts'
import { type KubeObject, type ManagedFieldsEntry, withMeta } from '../objects.ts'
import type { Resource } from '../registry/resource.ts'
import {
  compareFields,
  emptySet,
  formatFields,
  isEmptySet,
  parseFields,
  sameSet,
  subtract,
  union,
} from './field-set.ts'

/** Who writes: the field manager of the request, and when (RFC 3339). */
export interface Writer {
  readonly manager: string
  readonly subresource: string
  readonly time: string
}

/** Nobody owns these: the server sets them, or they are the object's name. */
const UNOWNED_META: Readonly<Record<string, undefined>> = {
  name: undefined,
  namespace: undefined,
  uid: undefined,
  creationTimestamp: undefined,
  generation: undefined,
  resourceVersion: undefined,
  managedFields: undefined,
  deletionTimestamp: undefined,
  deletionGracePeriodSeconds: undefined,
}

/** More writers than this with the operation Update are folded into one. */
const MAX_UPDATERS = 10
const ANCIENT = 'ancient-changes'

type Kind = Pick<Resource, 'schema' | 'blank'>

function owned(object: KubeObject | undefined, { blank }: Kind): JsonObject {
  const whole = { ...blank, ...object }
  const metadata = assign(objectAt(whole, 'metadata'), UNOWNED_META)
  return assign(whole, { apiVersion: undefined, kind: undefined, metadata })
}

/**
 * The object with `metadata.managedFields` as the write leaves them: what changed belongs to the writer and to nobody
 * else, what was removed to nobody (the operation Update of kube-apiserver). An empty list resets them, and an object
 * that nobody owns fields of is not tracked any more.
 */
export function trackFields(
  object: KubeObject,
  old: KubeObject | undefined,
  kind: Kind,
  writer: Writer,
): KubeObject {
  const before = old?.metadata.managedFields ?? []
  if (object.metadata.managedFields?.length === 0 || (old && before.length === 0))
    return withEntries(object, [])
  const { changed, removed } = compareFields(owned(old, kind), owned(object, kind), kind.schema)
  if (isEmptySet(changed) && isEmptySet(removed)) return withEntries(object, before)
  const isOwn = (entry: ManagedFieldsEntry) =>
    entry.operation === 'Update' &&
    entry.manager === writer.manager &&
    entry.apiVersion === object.apiVersion &&
    (entry.subresource ?? '') === writer.subresource
  const others = before
    .filter((entry) => !isOwn(entry))
    .flatMap((entry) => {
      const fields = parseFields(entry.fieldsV1)
      const left = subtract(subtract(fields, changed, false), removed, true)
      return isEmptySet(left) ? [] : [{ ...entry, fieldsV1: formatFields(left) }]
    })
  const own = before.find(isOwn)
  return withEntries(object, fold([...others, ...ownEntry(own, object, { changed, removed, writer })]))
}

function ownEntry(
  own: ManagedFieldsEntry | undefined,
  object: KubeObject,
  { changed, removed, writer }: ReturnType<typeof compareFields> & { readonly writer: Writer },
): readonly ManagedFieldsEntry[] {
  const had = own ? parseFields(own.fieldsV1) : emptySet()
  const fields = subtract(union(had, changed), removed, true)
  if (isEmptySet(fields)) return []
  return [
    {
      manager: writer.manager,
      operation: 'Update',
      apiVersion: object.apiVersion,
      time: own && sameSet(had, fields) ? own.time : writer.time,
      fieldsType: 'FieldsV1',
      fieldsV1: formatFields(fields),
      ...(writer.subresource ? { subresource: writer.subresource } : {}),
    },
  ]
}

function withEntries(object: KubeObject, entries: readonly ManagedFieldsEntry[]): KubeObject {
  return withMeta(object, { managedFields: entries.length > 0 ? entries : undefined })
}

function order(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  const keyOf = (e: ManagedFieldsEntry) =>
    [e.operation, e.time, e.manager, e.apiVersion, e.subresource ?? ''].join('\0')
  return keyOf(a) < keyOf(b) ? -1 : 1
}

/** Keeps the list short: the oldest updates become those of one nameless writer. */
function fold(entries: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] {
  const sorted = entries.toSorted(order)
  const updates = sorted.filter((entry) => entry.operation === 'Update')
  if (updates.length <= MAX_UPDATERS) return sorted
  const old = updates.slice(0, updates.length - MAX_UPDATERS + 1)
  const last = old.at(-1)
  if (!last) return sorted
  const all = old.map((entry) => parseFields(entry.fieldsV1)).reduce(union, emptySet())
  const { subresource: _subresource, ...rest } = last
  const ancient = { ...rest, manager: ANCIENT, fieldsV1: formatFields(all) }
  return [...sorted.filter((entry) => !old.includes(entry)), ancient].toSorted(order)
}
