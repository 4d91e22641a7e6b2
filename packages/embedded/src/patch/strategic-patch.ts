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
    if (key.startsWith(ORDER)) sortItems(out, key.slice(ORDER.length), order, schema)
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
    if (isReplacing(schema)) return without(value)
    return applyStrategicPatch(isObject(old) ? old : {}, value, schema)
  }
  if (!isArray(value)) return value
  const mergeable = String(schema?.['x-kubernetes-patch-strategy'] ?? '')
    .split(',')
    .includes('merge')
  if (!mergeable) return value
  const key = stringAt(schema, 'x-kubernetes-patch-merge-key')
  const list = isArray(old) ? old : []
  return key ? mergeItems(list, value, key, itemSchema(schema)) : [...new Set([...list, ...value])]
}

function isReplacing(schema: Schema | undefined): boolean {
  return String(schema?.['x-kubernetes-patch-strategy'] ?? '')
    .split(',')
    .includes('replace')
}

function mergeItems(
  old: readonly Json[],
  patch: readonly Json[],
  key: string,
  schema: Schema | undefined,
): Json {
  const replace = patch.some((item) => isObject(item) && item[DIRECTIVE] === 'replace')
  if (replace) return patch.filter((item) => at(item, DIRECTIVE) !== 'replace')
  return patch.reduce<readonly Json[]>((list, item) => {
    if (!isObject(item)) return list
    const index = list.findIndex((candidate) => equal(at(candidate, key), item[key]))
    if (item[DIRECTIVE] === 'delete') return list.filter((candidate) => !equal(at(candidate, key), item[key]))
    const current = list[index]
    if (!isObject(current)) return [...list, applyStrategicPatch({}, item, schema)]
    return list.with(index, applyStrategicPatch(current, item, schema))
  }, old)
}

function deleteItems(out: Draft, field: string, gone: Json): void {
  const list = out[field]
  if (isArray(list) && isArray(gone)) out[field] = list.filter((item) => !gone.includes(item))
}

/** Items that the order names come in that order; others keep their place behind what stood before them. */
function sortItems(out: Draft, field: string, order: Json, schema: Schema | undefined): void {
  const list = out[field]
  if (!isArray(list) || !isArray(order)) return
  const key = stringAt(schema && fieldSchema(schema, field), 'x-kubernetes-patch-merge-key')
  const identity = (item: Json) => (key && isObject(item) ? at(item, key) : item)
  const wanted = order.map(identity)
  const rank = (item: Json) => wanted.findIndex((other) => equal(other, identity(item)))
  const ordered = list.filter((item) => rank(item) >= 0).toSorted((a, b) => rank(a) - rank(b))
  out[field] = [...ordered, ...list.filter((item) => rank(item) < 0)]
}
