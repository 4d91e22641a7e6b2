import { duplicate, invalid } from './cause.ts'
import { goJson } from './go-text.ts'
import { isList, isObject, own } from './json.ts'
import { child, index, key } from './path.ts'
import { extraSchema } from './prune.ts'
import type { Cause, Json, JsonObject, JsonSchema } from './types.ts'

/** Positions of the second appearance of each value; a third one says nothing new. */
function repeated(values: readonly Json[]): readonly number[] {
  const seen = new Map<string, number>()
  const positions: number[] = []
  values.forEach((value, i) => {
    const text = goJson(value)
    const times = (seen.get(text) ?? 0) + 1
    seen.set(text, times)
    if (times === 2) positions.push(i)
  })
  return positions
}

function keysOf(item: Json, names: readonly string[]): JsonObject {
  if (!isObject(item)) return {}
  const present = names.filter((name) => Object.hasOwn(item, name))
  return Object.fromEntries(present.map((name) => [name, item[name] ?? null]))
}

function listCauses(list: readonly Json[], schema: JsonSchema, path: string): readonly Cause[] {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return repeated(list).map((i) => duplicate(index(path, i), list[i] ?? null))
    case 'map': {
      const odd = list.findIndex((item) => item !== null && !isObject(item))
      if (odd >= 0) {
        return [
          invalid(index(path, odd), list[odd] ?? null, 'must be an object for an array of list-type map'),
        ]
      }
      const keys = list.map((item) => keysOf(item, schema['x-kubernetes-list-map-keys'] ?? []))
      return repeated(keys).map((i) => duplicate(index(path, i), keys[i] ?? {}))
    }
    default:
      return []
  }
}

/** Every repeated element of a list of type `set` and every repeated key of one of type `map`. */
export function listTypeCauses(value: Json, schema: JsonSchema | undefined, path = ''): readonly Cause[] {
  if (schema === undefined) return []
  if (isList(value)) {
    const inner = value.flatMap((item, i) => listTypeCauses(item, schema.items, index(path, i)))
    return [...listCauses(value, schema, path), ...inner]
  }
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, entry]) => {
    const property = own(schema.properties, name)
    return property === undefined
      ? listTypeCauses(entry, extraSchema(schema), key(path, name))
      : listTypeCauses(entry, property, child(path, name))
  })
}
