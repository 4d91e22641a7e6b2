import { type Draft, isObject, type Json } from '../json.ts'

/** RFC 7386: null takes a field away, objects are merged, everything else replaces. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const out: Draft = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key]
    else out[key] = applyMergePatch(out[key], value)
  }
  return out
}
