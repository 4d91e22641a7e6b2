import { resolveFieldPath } from './field-path.ts'
import { isObject, own } from './json.ts'
import type { CrdVersion, Json, JsonObject } from './types.ts'

function lookUp(object: JsonObject, names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>((at, name) => (isObject(at) ? own(at, name) : undefined), object)
}

/** Reads the selectable fields of a version from an object: `spec.jobName` → its text, absent ones as `''`. */
export function selectableReader(
  version: CrdVersion,
): (object: JsonObject) => Readonly<Record<string, string>> {
  const schema = version.schema?.openAPIV3Schema ?? {}
  const fields = (version.selectableFields ?? []).flatMap(({ jsonPath }) => {
    const found = resolveFieldPath(jsonPath, schema)
    return found === undefined ? [] : [found]
  })
  return (object) =>
    Object.fromEntries(
      fields.map(({ path, names }) => {
        const value = lookUp(object, names)
        return [path, value === undefined || value === null ? '' : String(value as string | number | boolean)]
      }),
    )
}
