import { fieldSchema, itemSchema, type Schema } from '../builtin/definitions.ts'
import { at, type Draft, equal, isArray, isObject, type Json, type JsonObject, stringsAt } from '../json.ts'

/** A set of fields as a tree: `member` is the field itself, children are `f:name`, `k:{…}` and `v:…`. */
export interface FieldNode {
  member: boolean
  readonly children: Map<string, FieldNode>
}

export function emptySet(): FieldNode {
  return { member: false, children: new Map() }
}

/** Reads `fieldsV1`: an empty object is the field itself, as is '.'. */
export function parseFields(fields: JsonObject): FieldNode {
  const root = parseNode(fields)
  return { ...root, member: false }
}

function parseNode(fields: JsonObject): FieldNode {
  const entries = Object.entries(fields).filter(([key]) => key !== '.')
  const children = entries.map(([key, child]) => [key, parseNode(isObject(child) ? child : {})] as const)
  return { member: entries.length === 0 || '.' in fields, children: new Map(children) }
}

/** The other way round. */
export function formatFields(node: FieldNode): JsonObject {
  const out: Draft = node.member && node.children.size > 0 ? { '.': {} } : {}
  for (const [key, child] of [...node.children].sort(([a], [b]) => (a < b ? -1 : 1)))
    out[key] = formatFields(child)
  return out
}

export function isEmptySet(node: FieldNode): boolean {
  return !node.member && node.children.size === 0
}

export function sameSet(a: FieldNode, b: FieldNode): boolean {
  if (a.member !== b.member || a.children.size !== b.children.size) return false
  return [...a.children].every(([key, child]) => {
    const other = b.children.get(key)
    return other !== undefined && sameSet(child, other)
  })
}

export function union(a: FieldNode, b: FieldNode): FieldNode {
  const children = new Map(a.children)
  for (const [key, child] of b.children) {
    const own = children.get(key)
    children.set(key, own ? union(own, child) : child)
  }
  return { member: a.member || b.member, children }
}

/** What is in `a` and not in `b`; with `whole` a member of `b` takes everything below it along. */
export function subtract(a: FieldNode, b: FieldNode, whole: boolean): FieldNode {
  if (whole && b.member) return emptySet()
  const children = new Map<string, FieldNode>()
  for (const [key, child] of a.children) {
    const other = b.children.get(key)
    const left = other ? subtract(child, other, whole) : child
    if (!isEmptySet(left)) children.set(key, left)
  }
  return { member: a.member && !b.member, children }
}

export interface FieldChanges {
  /** Added, or given another value. */
  readonly changed: FieldNode
  readonly removed: FieldNode
}

/** What a write did to the fields of an object, along its schema: lists are atomic unless it says how items are told. */
export function compareFields(old: JsonObject, next: JsonObject, schema: Schema): FieldChanges {
  const changes = { changed: emptySet(), removed: emptySet() }
  compareEntries(fieldEntries(old, schema), fieldEntries(next, schema), changes)
  return changes
}

interface Entry {
  readonly value: Json
  readonly schema: Schema | undefined
}

type Entries = ReadonlyMap<string, Entry>

function compareEntries(old: Entries, next: Entries, { changed, removed }: FieldChanges): void {
  for (const [key, entry] of next) {
    const before = old.get(key)
    const child = { changed: emptySet(), removed: emptySet() }
    compareEntry(before, entry, child)
    if (!isEmptySet(child.changed)) changed.children.set(key, child.changed)
    if (!isEmptySet(child.removed)) removed.children.set(key, child.removed)
  }
  for (const key of old.keys()) {
    if (!next.has(key)) removed.children.set(key, { member: true, children: new Map() })
  }
}

function compareEntry(before: Entry | undefined, entry: Entry, child: FieldChanges): void {
  if (before && equal(before.value, entry.value)) return
  const own = entriesOf(entry.value, entry.schema)
  const old = before && entriesOf(before.value, before.schema)
  child.changed.member = !old || !own
  compareEntries(old ?? NOTHING, own ?? NOTHING, child)
}

const NOTHING: Entries = new Map()

/** The parts that are owned one by one; undefined for a scalar and for what is owned as a whole. */
function entriesOf(value: Json, schema: Schema | undefined): Entries | undefined {
  if (isObject(value)) {
    return schema?.['x-kubernetes-map-type'] === 'atomic' ? undefined : fieldEntries(value, schema)
  }
  if (!isArray(value)) return undefined
  switch (schema?.['x-kubernetes-list-type']) {
    case 'set':
      return new Map(value.map((item) => [`v:${JSON.stringify(item)}`, { value: item, schema: undefined }]))
    case 'map':
      return itemEntries(value, schema)
    default:
      return undefined
  }
}

function fieldEntries(object: JsonObject, schema: Schema | undefined): Entries {
  const entries = Object.entries(object).map(
    ([key, value]) => [`f:${key}`, { value, schema: schema && fieldSchema(schema, key) }] as const,
  )
  return new Map(entries)
}

function itemEntries(list: readonly Json[], schema: Schema): Entries {
  const keys = stringsAt(schema, 'x-kubernetes-list-map-keys').toSorted()
  const item = itemSchema(schema)
  const entries = list.map((value) => {
    const pairs = keys.map((key) => [key, at(value, key)] as const).filter(([, found]) => found !== undefined)
    return [`k:${JSON.stringify(Object.fromEntries(pairs))}`, { value, schema: item }] as const
  })
  return new Map(entries)
}
