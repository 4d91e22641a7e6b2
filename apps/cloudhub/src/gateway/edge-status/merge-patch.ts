type JsonObject = Readonly<Record<string, unknown>>

/** The JSON merge patch (RFC 7396) that makes `after` of `before`: changed keys only, lists whole, `null` for what goes. */
export function mergePatch(before: object, after: object): Record<string, unknown> {
  const from = before as JsonObject
  const to = after as JsonObject
  const patch: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [old, next] = [from[key], to[key]]
    if (next === undefined) {
      if (old !== undefined) patch[key] = null
    } else if (isObject(old) && isObject(next)) {
      const inner = mergePatch(old, next)
      if (Object.keys(inner).length > 0) patch[key] = inner
    } else if (JSON.stringify(old) !== JSON.stringify(next)) patch[key] = next
  }
  return patch
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
