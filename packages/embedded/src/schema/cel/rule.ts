import type { Environment } from '@marcbachmann/cel-js'
import { duplicate, forbidden, invalid, OMIT, required, type Shown } from '../cause.ts'
import { CelError } from '../errors.ts'
import { resolveFieldPath } from '../field-path.ts'
import { child } from '../path.ts'
import type { Cause, JsonSchema, ValidationRule } from '../types.ts'
import { Meter } from './meter.ts'
import { compileProgram, dynamicEnvironment, type Program } from './program.ts'
import { optional } from './values.ts'

/** How long a message from an expression may be. */
const MAX_MESSAGE = 5 * 1024

/** The environments that all rules of one schema run in, with the meter that they share. */
export interface RuleEngine {
  readonly meter: Meter
  readonly plain: Environment
  readonly optional: Environment
}

export function ruleEngine(): RuleEngine {
  const meter = new Meter()
  return {
    meter,
    plain: dynamicEnvironment({ self: 'dyn', oldSelf: 'dyn' }, meter),
    optional: dynamicEnvironment({ self: 'dyn', oldSelf: 'optional<dyn>' }, meter),
  }
}

/** A rule ready to run, or the reason why it never can. */
export interface CompiledRule {
  readonly rule: ValidationRule
  readonly program: Program
  readonly message: Program | undefined
  readonly usesOldSelf: boolean
  /** Where the cause points, below the node of the rule. */
  readonly fieldPath: string
}

/** Compiles a rule of a schema. Throws the parser's error for a rule that is none: a CRD with such is not accepted. */
export function compileRule(rule: ValidationRule, schema: JsonSchema, engine: RuleEngine): CompiledRule {
  const env = rule.optionalOldSelf ? engine.optional : engine.plain
  const program = compileProgram(rule.rule, env, engine.meter)
  const { messageExpression, fieldPath } = rule
  return {
    rule,
    program,
    message: messageExpression ? compileProgram(messageExpression, engine.plain, engine.meter) : undefined,
    usesOldSelf: program.mentions('oldSelf'),
    fieldPath: (fieldPath && resolveFieldPath(fieldPath, schema)?.path) || '',
  }
}

/** What a rule looks at: values of CEL, `old` undefined where there is none. */
export interface RuleSubject {
  readonly self: unknown
  readonly old: unknown
  /** Shown in the cause; objects and lists are omitted. */
  readonly shown: Shown
  readonly path: string
  readonly type: string
}

function nameOf(rule: ValidationRule): string {
  return (rule.message || rule.rule).trim()
}

function messageFrom({ rule, message }: CompiledRule, subject: RuleSubject): string {
  const fallback = rule.message ? rule.message.trim() : `failed rule: ${nameOf(rule)}`
  if (message === undefined) return fallback
  try {
    const value = message.evaluate({ self: subject.self, oldSelf: subject.old ?? null })
    const text = typeof value === 'string' ? value.trim() : ''
    const usable = text !== '' && text.length <= MAX_MESSAGE && !text.includes('\n')
    return usable ? text : fallback
  } catch (thrown) {
    if (thrown instanceof CelError) return fallback
    throw thrown
  }
}

function causeFor(reason: string | undefined, field: string, shown: Shown, detail: string): Cause {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail)
    case 'FieldValueRequired':
      return required(field, detail)
    case 'FieldValueDuplicate':
      return duplicate(field, shown)
    default:
      return invalid(field, shown, detail)
  }
}

/** The verdict of a rule that could not be evaluated, in the words of an API server. */
function failure(error: CelError, { rule }: CompiledRule, { path, type }: RuleSubject): Cause {
  const name = nameOf(rule)
  if (error.message.startsWith('no such overload')) {
    const why = 'call arguments did not match a supported operator, function or macro signature for rule'
    return invalid(path, type, `'${error.message}': ${why}: ${name}`)
  }
  if (error.message.startsWith('operation cancelled')) {
    const why = 'no further validation rules will be run due to call cost exceeds limit for rule'
    return invalid(path, type, `'${error.message}': ${why}: ${name}`)
  }
  return invalid(path, type, `${error.message} evaluating rule: ${name}`)
}

/** The cause that a rule finds, or nothing: it holds, or it is a transition rule and there is no old value. */
export function runRule(compiled: CompiledRule, subject: RuleSubject): Cause | undefined {
  const { rule, program, usesOldSelf } = compiled
  if (usesOldSelf && subject.old === undefined && !rule.optionalOldSelf) return undefined
  const oldSelf = rule.optionalOldSelf ? optional(subject.old) : (subject.old ?? null)
  try {
    if (program.evaluate({ self: subject.self, oldSelf }) === true) return undefined
  } catch (thrown) {
    if (thrown instanceof CelError) return failure(thrown, compiled, subject)
    throw thrown
  }
  const field = compiled.fieldPath === '' ? subject.path : child(subject.path, compiled.fieldPath)
  return causeFor(rule.reason, field, subject.shown, messageFrom(compiled, subject))
}

/** What is shown of a value in the causes of its rules. */
export function shownValue(value: Shown): Shown {
  return typeof value === 'object' ? OMIT : value
}
