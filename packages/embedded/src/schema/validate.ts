import { blocksRules, rulesNotChecked } from './cause.ts'
import type { RuleTree } from './cel/rule-tree.ts'
import { Correlated } from './correlation.ts'
import { embeddedCauses } from './embedded.ts'
import { listTypeCauses } from './list-types.ts'
import type { Cause, JsonObject, JsonSchema } from './types.ts'
import { validateValue } from './validate-value.ts'

/** What an update is judged against. */
export interface Transition {
  readonly old: JsonObject
  /** An update of the status subresource: only `status` is checked against the schema. */
  readonly statusOnly: boolean
}

function schemaCauses(
  object: JsonObject,
  schema: JsonSchema,
  transition: Transition | undefined,
  correlated: Correlated | undefined,
): readonly Cause[] {
  if (!transition?.statusOnly) return validateValue(object, schema, { path: '', correlated })
  const { status } = object
  const statusSchema = schema.properties?.status
  if (status === undefined || statusSchema === undefined) return []
  return validateValue(status, statusSchema, { path: 'status', correlated: correlated?.key('status') })
}

function listCauses(object: JsonObject, schema: JsonSchema, old: JsonObject | undefined): readonly Cause[] {
  const found = listTypeCauses(object, schema)
  // A list that was already broken is not held against an update.
  const tolerated = found.length > 0 && old !== undefined && listTypeCauses(old, schema).length > 0
  return tolerated ? [] : found
}

/** A version of a kind, ready to judge its objects. */
export interface Judge {
  readonly schema: JsonSchema
  readonly rules: RuleTree | undefined
}

/**
 * Every problem of a pruned and defaulted object, in the order in which an API server looks for them. `before` are the
 * causes that were found in its metadata: rules do not run on an object that is broken there.
 */
export function validateObject(
  { schema, rules }: Judge,
  object: JsonObject,
  transition: Transition | undefined,
  before: readonly Cause[],
): readonly Cause[] {
  const old = transition?.old
  const correlated = old && new Correlated(object, old, schema)
  const causes = [
    ...schemaCauses(object, schema, transition, correlated),
    ...(transition?.statusOnly ? [] : embeddedCauses(object, schema)),
    ...listCauses(object, schema, old),
  ]
  if (rules === undefined) return causes
  if (blocksRules([...before, ...causes])) return [...causes, rulesNotChecked()]
  return [...causes, ...rules.causes(object, old, correlated)]
}
