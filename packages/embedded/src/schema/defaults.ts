import { define, isList, isObject, mapEntries, own } from './json.ts'
import { extraSchema } from './prune.ts'
import type { Json, JsonObject, JsonSchema } from './types.ts'

function fillMissing(object: JsonObject, schema: JsonSchema): JsonObject {
  const filled: Record<string, Json> = { ...object }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined) continue
    const current = own(object, name)
    if (current === undefined || (current === null && !property.nullable)) {
      define(filled, name, property.default)
    }
  }
  return filled
}

function fillNull(value: Json, schema: JsonSchema | undefined): Json {
  const replace = value === null && schema !== undefined && !schema.nullable && schema.default !== undefined
  return replace ? schema.default : value
}

function fill(value: Json, schema: JsonSchema | undefined): Json {
  if (schema === undefined) return value
  if (isList(value)) return value.map((item) => fill(fillNull(item, schema.items), schema.items))
  if (!isObject(value)) return value
  return mapEntries(fillMissing(value, schema), (entry, name) => {
    const property = own(schema.properties, name)
    if (property !== undefined) return fill(entry, property)
    const extra = extraSchema(schema)
    return fill(fillNull(entry, extra), extra)
  })
}

function dropNulls(value: Json, schema: JsonSchema | undefined): Json {
  if (isList(value)) return value.map((item) => dropNulls(item, schema?.items))
  if (!isObject(value)) return value
  return mapEntries(value, (entry, name) => {
    const field = schema && (own(schema.properties, name) ?? extraSchema(schema))
    const drop = entry === null && field !== undefined && !field.nullable && field.default === undefined
    return drop ? undefined : dropNulls(entry, field)
  })
}

/**
 * Schema defaults as an API server applies them on requests and on reads: absent fields and nulls of fields that are
 * not nullable get the default; a null that is neither allowed nor has a default is dropped.
 */
export function applyDefaults(object: JsonObject, schema: JsonSchema): JsonObject {
  const filled = fill(dropNulls(object, schema), schema)
  return isObject(filled) ? filled : object
}
