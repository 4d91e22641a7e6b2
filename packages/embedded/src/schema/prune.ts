import { isList, isObject, mapEntries, own } from './json.ts'
import { child, index } from './path.ts'
import type { Json, JsonObject, JsonSchema } from './types.ts'

const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/** The schema of an undeclared entry: that of `additionalProperties`, none where it is `true`. */
export function extraSchema(schema: JsonSchema): JsonSchema | undefined {
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}

interface Pruning {
  readonly unknown: string[]
}

function pruneObject(object: JsonObject, schema: JsonSchema, path: string, pruning: Pruning): JsonObject {
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true
  return mapEntries(object, (value, name) => {
    if (schema['x-kubernetes-embedded-resource'] && META_FIELDS.has(name)) return value
    const property = own(schema.properties, name)
    if (property !== undefined) return pruneValue(value, property, child(path, name), pruning)
    if (schema.additionalProperties) return pruneValue(value, extraSchema(schema), child(path, name), pruning)
    if (open) return value
    pruning.unknown.push(child(path, name))
    return undefined
  })
}

function pruneValue(value: Json, schema: JsonSchema | undefined, path: string, pruning: Pruning): Json {
  if (isObject(value)) return pruneObject(value, schema ?? {}, path, pruning)
  if (!isList(value)) return value
  const items = schema?.items ?? (schema?.['x-kubernetes-preserve-unknown-fields'] ? OPEN : undefined)
  return value.map((item, i) => pruneValue(item, items, index(path, i), pruning))
}

const OPEN: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true }

/**
 * Drops every field that the schema does not declare, as an API server does before it stores an object. The root and
 * embedded resources keep `apiVersion`, `kind` and `metadata`; nothing below a schema with
 * `x-kubernetes-preserve-unknown-fields` is dropped unless it is declared there. `unknown` is sorted.
 */
export function prune(
  object: JsonObject,
  schema: JsonSchema,
): { object: JsonObject; unknown: readonly string[] } {
  const pruning: Pruning = { unknown: [] }
  const pruned = pruneObject(object, { ...schema, 'x-kubernetes-embedded-resource': true }, '', pruning)
  return { object: pruned, unknown: pruning.unknown.sort() }
}
