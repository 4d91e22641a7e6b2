import { invalid, required } from './cause.ts'
import { isList, isObject, own } from './json.ts'
import { child, index, key } from './path.ts'
import { extraSchema } from './prune.ts'
import type { Cause, Json, JsonObject, JsonSchema } from './types.ts'

const TYPE_FIELDS = ['apiVersion', 'kind'] as const

function typeMetaCauses(object: JsonObject, path: string): readonly Cause[] {
  return TYPE_FIELDS.flatMap((name) => {
    const value = own(object, name)
    const at = child(path, name)
    if (value === undefined) return [required(at)]
    if (typeof value !== 'string') return [invalid(at, value, 'must be a string')]
    return value === '' ? [invalid(at, value, 'must not be empty')] : []
  })
}

/** The type of every embedded resource: it must say its `apiVersion` and `kind`. The root is judged elsewhere. */
export function embeddedCauses(value: Json, schema: JsonSchema | undefined, path = ''): readonly Cause[] {
  if (schema === undefined) return []
  if (isList(value)) return value.flatMap((item, i) => embeddedCauses(item, schema.items, index(path, i)))
  if (!isObject(value)) return []
  const here = schema['x-kubernetes-embedded-resource'] ? typeMetaCauses(value, path) : []
  const inner = Object.entries(value).flatMap(([name, entry]) => {
    const property = own(schema.properties, name)
    return property === undefined
      ? embeddedCauses(entry, extraSchema(schema), key(path, name))
      : embeddedCauses(entry, property, child(path, name))
  })
  return [...here, ...inner]
}
