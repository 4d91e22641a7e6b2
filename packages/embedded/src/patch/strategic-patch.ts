import { fieldSchema, itemSchema, type Schema } from '../builtin/definitions.ts'
import { at, type Draft, equal, isArray, isObject, type Json, type JsonObject, stringAt } from '../json.ts'

const DIRECTIVE = '$patch'
const RETAIN = '$retainKeys'
const ORDER = '$setElementOrder/'
const DELETE_ITEMS = '$deleteFromPrimitiveList/'

/**
 * A strategic merge patch: like a merge patch, but lists whose schema has a patch merge key are merged item by item,
 * with the directives `$patch`, `$retainKeys`, `$setElementOrder` and `$deleteFromPrimitiveList`
 * (k8s.io/apimachinery/pkg/util/strategicpatch).
 */
export function applyStrategicPatch(
  target: JsonObject,
  patch: JsonObject,
  schema: Schema | undefined,
): JsonObject {
  if (patch[DIRECTIVE] === 'replace') return without(patch)
  if (patch[DIRECTIVE] === 'delete') return {}
  const out: Draft = retained(target, patch)
  for (const [key, value] of Object.entries(patch)) {
    if (key === DIRECTIVE || key === RETAIN || key.startsWith(ORDER)) continue
    if (key.startsWith(DELETE_ITEMS)) deleteItems(out, key.slice(DELETE_ITEMS.length), value)
    else if (value === null) delete out[key]
    else out[key] = merged(out[key], value, schema && fieldSchema(schema, key))
  }
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER)) continue
    const field = key.slice(ORDER.length)
    sortItems(out, field, order, { schema, before: target[field] })
  }
  return out
}

function without(patch: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith('$')))
}

function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keep = patch[RETAIN]
  if (!isArray(keep)) return { ...target }
  return Object.fromEntries(Object.entries(target).filter(([key]) => keep.includes(key)))
}

function merged(old: Json | undefined, value: Json, schema: Schema | undefined): Json {
  if (isObject(value)) {
    if (hasStrategy(schema, 'replace')) return without(value)
    return applyStrategicPatch(isObject(old) ? old : {}, value, schema)
  }
  if (!isArray(value)) return value
  if (!hasStrategy(schema, 'merge')) return value
  const key = stringAt(schema, 'x-kubernetes-patch-merge-key')
  const list = isArray(old) ? old : []
  return key ? mergeItems(list, value, key, itemSchema(schema)) : [...new Set([...list, ...value])]
}

function hasStrategy(schema: Schema | undefined, strategy: 'merge' | 'replace'): boolean {
  return stringAt(schema, 'x-kubernetes-patch-strategy').split(',').includes(strategy)
}

function mergeItems(
  old: readonly Json[],
  patch: readonly Json[],
  key: string,
  schema: Schema | undefined,
): Json {
  const replace = patch.some((item) => isObject(item) && item[DIRECTIVE] === 'replace')
  if (replace) return patch.filter((item) => at(item, DIRECTIVE) !== 'replace')
  const merged = patch.reduce<readonly Json[]>((list, item) => {
    if (!isObject(item)) return list
    const index = list.findIndex((candidate) => equal(at(candidate, key), item[key]))
    if (item[DIRECTIVE] === 'delete') return list.filter((candidate) => !equal(at(candidate, key), item[key]))
    const current = list[index]
    if (!isObject(current)) return [...list, applyStrategicPatch({}, item, schema)]
    return list.with(index, applyStrategicPatch(current, item, schema))
  }, old)
  return inOrder(merged, { order: patch, before: old, key })
}

function deleteItems(out: Draft, field: string, gone: Json): void {
  const list = out[field]
  if (isArray(list) && isArray(gone)) out[field] = list.filter((item) => !gone.includes(item))
}

function sortItems(out: Draft, field: string, order: Json, { schema, before }: Order): void {
  const list = out[field]
  if (!isArray(list) || !isArray(order)) return
  const key = stringAt(schema && fieldSchema(schema, field), 'x-kubernetes-patch-merge-key')
  out[field] = inOrder(list, { order, before: isArray(before) ? before : [], key })
}

interface Order {
  readonly schema: Schema | undefined
  readonly before: Json | undefined
}

/**
 * Items of the patch in its order, the others in the order in which they stood, merged so that those that both knew
 * keep their places (`normalizeElementOrder` of the package named above).
 */
function inOrder(
  list: readonly Json[],
  {
    order,
    before,
    key,
  }: { readonly order: readonly Json[]; readonly before: readonly Json[]; readonly key: string },
): readonly Json[] {
  const identity = (item: Json) => (key && isObject(item) ? at(item, key) : item)
  const ranker = (items: readonly Json[]) => {
    const identities = items.map(identity)
    return (item: Json) => identities.findIndex((other) => equal(other, identity(item)))
  }
  const rank = ranker(order)
  const place = ranker(before)
  const patched = list.filter((item) => rank(item) >= 0).toSorted((a, b) => rank(a) - rank(b))
  const others = list.filter((item) => rank(item) < 0).toSorted((a, b) => place(a) - place(b))
  const out: Json[] = []
  let next = 0
  for (const item of patched) {
    while (next < others.length && isBefore(place(others[next] ?? null), place(item)))
      out.push(others[next++] ?? null)
    out.push(item)
  }
  return [...out, ...others.slice(next)]
}

function isBefore(left: number, right: number): boolean {
  return left >= 0 && right >= 0 && left < right
}
