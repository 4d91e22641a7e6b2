type Json = Record<string, unknown>

/** RFC 7386: the object with the patch applied; null removes a key. */
export function mergePatch<T>(target: T, patch: unknown): T {
  return merge(target, patch) as T
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Json = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) delete merged[key]
    else merged[key] = merge(merged[key], value)
  }
  return merged
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
