import { messageOf } from '@upgrade-hub/core'
import type { Json } from '../types.ts'
import { Meter } from './meter.ts'
import { compileProgram, dynamicEnvironment, type Program } from './program.ts'
import { dynToCel } from './values.ts'

/** What the match conditions of an admission webhook may look at. */
export interface AdmissionAttributes {
  readonly object: Json
  readonly oldObject: Json
  /** The `request` of an AdmissionReview without the two objects. */
  readonly request: Json
}

/** All conditions of a webhook. */
export interface MatchConditions {
  /**
   * Whether the webhook is to be called: `match` when every condition holds, `skip` when one does not, or the error
   * when one cannot be told, which the failure policy then decides (no condition that does not hold may be left).
   */
  matches(attributes: AdmissionAttributes): 'match' | 'skip' | { readonly error: string }
}

/** A condition that does not compile. */
export interface ConditionProblem {
  readonly name: string
  readonly problem: string
}

interface Condition {
  readonly name: string
  readonly program: Program
}

function compileCondition(name: string, expression: string, meter: Meter): Condition {
  const variables = { object: 'dyn', oldObject: 'dyn', request: 'dyn' }
  return { name, program: compileProgram(expression, dynamicEnvironment(variables, meter), meter) }
}

/** The parser draws the place of an error below its sentence. */
function firstLine(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : messageOf(thrown)
}

function verdict(
  { name, program }: Condition,
  variables: Readonly<Record<string, unknown>>,
): boolean | string {
  try {
    return program.evaluate(variables) === true
  } catch (thrown) {
    return `expression '${program.source}' resulted in error: ${messageOf(thrown)} (${name})`
  }
}

/** The match conditions of a webhook configuration (`expression` of CEL over `object`, `oldObject` and `request`). */
export function compileMatchConditions(
  conditions: readonly { readonly name: string; readonly expression: string }[],
): { readonly conditions: MatchConditions; readonly problems: readonly ConditionProblem[] } {
  const meter = new Meter()
  const compiled: Condition[] = []
  const problems: ConditionProblem[] = []
  for (const { name, expression } of conditions) {
    try {
      compiled.push(compileCondition(name, expression, meter))
    } catch (thrown) {
      problems.push({ name, problem: firstLine(thrown) })
    }
  }
  return { conditions: { matches: (attributes) => matchAll(compiled, attributes, meter) }, problems }
}

function matchAll(conditions: readonly Condition[], attributes: AdmissionAttributes, meter: Meter) {
  meter.reset()
  const variables = {
    object: dynToCel(attributes.object),
    oldObject: dynToCel(attributes.oldObject),
    request: dynToCel(attributes.request),
  }
  const verdicts = conditions.map((condition) => verdict(condition, variables))
  if (verdicts.includes(false)) return 'skip'
  const errors = verdicts.filter((v) => typeof v === 'string')
  return errors.length > 0 ? { error: errors.join(', ') } : 'match'
}
