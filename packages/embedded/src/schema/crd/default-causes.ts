import { forbidden, invalid } from '../cause.ts'
import { compileRules } from '../cel/rule-tree.ts'
import { deepEqual, isObject } from '../json.ts'
import { child } from '../path.ts'
import { prune } from '../prune.ts'
import type { Cause, Json, JsonSchema } from '../types.ts'
import { validateValue } from '../validate-value.ts'

function isPruned(value: Json, schema: JsonSchema): boolean {
  if (!isObject(value)) return true
  return deepEqual(prune(value, schema).object, value)
}

function brokenRules(value: Json, schema: JsonSchema, path: string): readonly Cause[] {
  try {
    const found = compileRules(schema)?.causes(value, undefined, undefined) ?? []
    return found.map((c) => ({ ...c, field: c.field === '<nil>' ? path : child(path, c.field) }))
  } catch {
    // A rule that does not compile is told where it stands.
    return []
  }
}

/** A default must itself be what the schema accepts. */
export function defaultCauses(
  schema: JsonSchema,
  path: string,
  forbiddenIn: string | undefined,
): readonly Cause[] {
  if (schema.default === undefined) return []
  const at = child(path, 'default')
  if (forbiddenIn !== undefined) return [forbidden(at, `must not be set ${forbiddenIn}`)]
  const { default: value, ...bare } = schema
  if (!isPruned(value, schema)) return [invalid(at, value, 'must not have unknown fields')]
  const causes = validateValue(value, bare, { path: at })
  return causes.length > 0 ? causes : brokenRules(value, bare, at)
}
