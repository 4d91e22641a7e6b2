import type { Json, JsonObject } from './schema/index.ts'

export type { Json, JsonObject } from './schema/index.ts'

/** A JSON object that is being built; what is stored or was received is never changed in place. */
export type Draft = { [key: string]: Json }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

/** Equality of JSON values: the order of keys does not matter, the order of items does. */
export function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (isArray(a) && isArray(b)) return a.length === b.length && a.every((item, i) => equal(item, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => key in b && equal(a[key], b[key]))
}

/** The object with some fields set, and those whose value is undefined taken out. */
export function assign(object: JsonObject, fields: { readonly [key: string]: Json | undefined }): JsonObject {
  const out: Draft = { ...object }
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) delete out[key]
    else out[key] = value
  }
  return out
}

/** The value below dotted keys, undefined when any step is not an object. */
export function at(value: Json | undefined, ...keys: readonly string[]): Json | undefined {
  let current = value
  for (const key of keys) {
    if (!isObject(current)) return undefined
    current = Object.hasOwn(current, key) ? current[key] : undefined
  }
  return current
}

export function stringAt(value: Json | undefined, ...keys: readonly string[]): string {
  const found = at(value, ...keys)
  return typeof found === 'string' ? found : ''
}

/** A scalar as text, '' for what is absent, an object or a list. */
export function textOf(value: Json | undefined): string {
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}

export function listAt(value: Json | undefined, ...keys: readonly string[]): readonly Json[] {
  const found = at(value, ...keys)
  return isArray(found) ? found : []
}

export function objectAt(value: Json | undefined, ...keys: readonly string[]): JsonObject {
  const found = at(value, ...keys)
  return isObject(found) ? found : {}
}

export function stringsAt(value: Json | undefined, ...keys: readonly string[]): readonly string[] {
  return listAt(value, ...keys).filter((item) => typeof item === 'string')
}
