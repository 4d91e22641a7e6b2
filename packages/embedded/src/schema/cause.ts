import { goJson, goNumber, goQuote } from './go-text.ts'
import type { Cause, CauseReason, Json } from './types.ts'

/** Says that a cause names no value: objects and lists would only be noise in a message. */
export const OMIT = Symbol('omitted value')
export type Shown = Json | typeof OMIT

/** The name that Kubernetes prints for the root of an object. */
export const ROOT = '<nil>'

function cause(reason: CauseReason, field: string, body: string, detail: string): Cause {
  return { reason, message: detail === '' ? body : `${body}: ${detail}`, field: field === '' ? ROOT : field }
}

function withValue(label: string, value: Shown): string {
  if (value === OMIT) return label
  if (typeof value === 'string') return `${label}: ${goQuote(value)}`
  if (typeof value === 'number') return `${label}: ${goNumber(value)}`
  return `${label}: ${goJson(value)}`
}

/**
 * The problems of a field in Kubernetes' words (k8s.io/apimachinery/pkg/util/validation/field). `field` is a path from
 * `path.ts`; `''` is the root.
 */
export const invalid = (field: string, value: Shown, detail: string) =>
  cause('FieldValueInvalid', field, withValue('Invalid value', value), detail)

/** An invalid value that is shown by a text of its own. */
export const invalidAs = (field: string, shown: string, detail: string) =>
  cause('FieldValueInvalid', field, `Invalid value: ${shown}`, detail)

export const typeInvalid = (field: string, value: Shown, detail: string) =>
  cause('FieldValueTypeInvalid', field, withValue('Invalid value', value), detail)

export const required = (field: string, detail = '') =>
  cause('FieldValueRequired', field, 'Required value', detail)

export const forbidden = (field: string, detail: string) =>
  cause('FieldValueForbidden', field, 'Forbidden', detail)

export const duplicate = (field: string, value: Shown) =>
  cause('FieldValueDuplicate', field, withValue('Duplicate value', value), '')

/** A value outside a closed set; values that are no strings are shown as JSON. */
export const notSupported = (field: string, value: Shown, supported: readonly Json[]) =>
  cause(
    'FieldValueNotSupported',
    field,
    withValue('Unsupported value', value),
    `supported values: ${supported.map((v) => goQuote(typeof v === 'string' ? v : goJson(v))).join(', ')}`,
  )

export const tooLong = (field: string, max: number) =>
  cause('FieldValueTooLong', field, 'Too long', `may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`)

export const tooMany = (field: string, actual: number, max: number) =>
  cause(
    'FieldValueTooMany',
    field,
    withValue('Too many', actual),
    `must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  )

/** The problems whose presence keeps an API server from running CEL: the rules could not trust the shape. */
const BLOCKING: ReadonlySet<CauseReason> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

export function blocksRules(causes: readonly Cause[]): boolean {
  return causes.some((c) => BLOCKING.has(c.reason))
}

/** What is said instead of the verdicts of rules that did not run. */
export const rulesNotChecked = () =>
  invalid(
    '',
    null,
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  )
