import { invalid, invalidAs, notSupported, required } from '../cause.ts'
import { type ExpressionChecker, expressionChecker } from '../cel/declarations.ts'
import { resolveFieldPath } from '../field-path.ts'
import { escapeHtml } from '../go-text.ts'
import { child, index } from '../path.ts'
import type { Cause, JsonSchema, ValidationRule } from '../types.ts'

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']
const LINE_BREAK = 'must not contain line breaks'

function messageCause({ rule, message }: ValidationRule, path: string): Cause | undefined {
  const at = child(path, 'message')
  if (rule.trim() === '') return required(child(path, 'rule'), 'rule is not specified')
  if (message !== undefined && message.trim() === '' && message !== '') {
    return invalid(at, message, 'must be non-empty if specified')
  }
  if (message?.trim().includes('\n')) return invalid(at, message, LINE_BREAK)
  if (rule.trim().includes('\n') && !message) {
    return required(at, 'message must be specified if rule contains line breaks')
  }
  return undefined
}

/** Everything about a rule but its expressions. */
function formCauses(rule: ValidationRule, schema: JsonSchema, path: string): readonly Cause[] {
  const { messageExpression, reason, fieldPath } = rule
  const causes: (Cause | undefined)[] = [messageCause(rule, path)]
  if (messageExpression && messageExpression.trim() === '') {
    causes.push(
      required(child(path, 'messageExpression'), 'messageExpression must be non-empty if specified'),
    )
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    causes.push(notSupported(child(path, 'reason'), reason, REASONS))
  }
  if (fieldPath && resolveFieldPath(fieldPath, schema) === undefined) {
    causes.push(invalid(child(path, 'fieldPath'), fieldPath, 'must be a valid path'))
  }
  return causes.filter((c) => c !== undefined)
}

/** A rule as Go prints its own struct: in the order of its fields and with their names. */
function showRule({
  rule,
  message,
  messageExpression,
  reason,
  fieldPath,
  optionalOldSelf,
}: ValidationRule): string {
  const texts = { Rule: rule, Message: message ?? '', MessageExpression: messageExpression ?? '' }
  const rest = {
    Reason: reason ?? null,
    FieldPath: fieldPath ?? '',
    OptionalOldSelf: optionalOldSelf ?? null,
  }
  return escapeHtml(JSON.stringify({ ...texts, ...rest }))
}

function expressionCauses(rule: ValidationRule, checker: ExpressionChecker, path: string): readonly Cause[] {
  const shown = showRule(rule)
  const check = (expression: string, expected: 'bool' | 'string') =>
    checker.check(expression, expected, expected === 'bool' && rule.optionalOldSelf === true)
  const { problem, usesOldSelf } = check(rule.rule, 'bool')
  const causes: Cause[] = []
  if (problem !== undefined) causes.push(invalidAs(child(path, 'rule'), shown, problem))
  if (problem === undefined && !usesOldSelf && rule.optionalOldSelf !== undefined) {
    const at = child(path, 'optionalOldSelf')
    causes.push(invalid(at, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'))
  }
  const message = rule.messageExpression ? check(rule.messageExpression, 'string').problem : undefined
  if (message !== undefined) causes.push(invalidAs(child(path, 'messageExpression'), shown, message))
  return causes
}

/** Where a node stands, which decides what its rules may see. */
export interface RulePlace {
  readonly path: string
  readonly isRoot: boolean
  /** The list above whose items cannot be told apart between two versions of an object. */
  readonly uncorrelatable: string | undefined
}

/** Every problem of the rules of one schema node. */
export function ruleCauses(
  schema: JsonSchema,
  { path, isRoot, uncorrelatable }: RulePlace,
): readonly Cause[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  const at = (i: number) => index(child(path, 'x-kubernetes-validations'), i)
  const forms = rules.flatMap((rule, i) => formCauses(rule, schema, at(i)))
  if (rules.length === 0 || forms.length > 0) return forms
  const seen = isRoot ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema
  const checker = expressionChecker(seen)
  if (checker === undefined) return [invalid(at(0), '', 'rules cannot see a schema without a type')]
  return rules.flatMap((rule, i) => {
    const causes = expressionCauses(rule, checker, at(i))
    const old = uncorrelatable !== undefined && checker.check(rule.rule, 'bool', false).usesOldSelf
    const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`
    return old ? [...causes, invalid(child(at(i), 'rule'), rule.rule, why)] : causes
  })
}
