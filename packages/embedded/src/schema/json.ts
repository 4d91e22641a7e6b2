import type { Json, JsonObject } from './types.ts'

/** True for a JSON object, which neither null nor a list is. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True for a JSON list; unlike `Array.isArray` it keeps the readonly element type. */
export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}

/** An own property, so that a field called `constructor` or `__proto__` is absent when it is absent. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}

/** Rebuilds an object entry by entry; an entry that becomes undefined is dropped. */
export function mapEntries(
  object: JsonObject,
  change: (value: Json, key: string) => Json | undefined,
): JsonObject {
  const result: Record<string, Json> = {}
  for (const [name, value] of Object.entries(object)) {
    const changed = change(value, name)
    if (changed !== undefined) define(result, name, changed)
  }
  return result
}

/** Sets a property by its plain name: a field called `__proto__` stays a field. */
export function define<T>(target: Record<string, T>, name: string, value: T): void {
  if (name === '__proto__') {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  } else target[name] = value
}

/** Equality of JSON values; the order of keys does not count, the order of lists does. */
export function deepEqual(a: Json, b: Json): boolean {
  if (a === b) return true
  if (isList(a))
    return isList(b) && a.length === b.length && a.every((item, i) => deepEqual(item, b[i] ?? null))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((name) => Object.hasOwn(b, name) && deepEqual(a[name] ?? null, b[name] ?? null))
}
