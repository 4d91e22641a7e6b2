import { forbidden, invalid, ROOT } from '../cause.ts'
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

/** Causes of a value that stands at a path, told as if it were a root. */
function below(path: string, causes: readonly Cause[]): readonly Cause[] {
  return causes.map((c) => ({ ...c, field: c.field === ROOT ? path : child(path, c.field) }))
}

function brokenRules(value: Json, schema: JsonSchema, path: string): readonly Cause[] {
  try {
    return below(path, compileRules(schema)?.causes(value, undefined, undefined) ?? [])
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
  const causes = below(at, validateValue(value, bare, { path: '' }))
  return causes.length > 0 ? causes : brokenRules(value, bare, at)
}
