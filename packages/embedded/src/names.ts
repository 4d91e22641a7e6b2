import type { Cause } from './schema/index.ts'

const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
const LABEL_1035 = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/
const QUALIFIED = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const VALUE = /^(?:(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/

const SUBDOMAIN_MAX = 253
const LABEL_MAX = 63

const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const LABEL_1035_WORDS =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const QUALIFIED_WORDS =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

/** Says what is wrong with a text, nothing when it is fine. Rules and words: k8s.io/apimachinery/pkg/util/validation. */
export type NameRule = (name: string) => readonly string[]

function rule(pattern: RegExp, [max, unit]: readonly [number, string], words: string): NameRule {
  return (name) => [
    ...(name.length > max ? [`must be no more than ${max} ${unit}`] : []),
    ...(pattern.test(name) ? [] : [words]),
  ]
}

export const subdomain = rule(SUBDOMAIN, [SUBDOMAIN_MAX, 'characters'], SUBDOMAIN_WORDS)
const label = rule(LABEL, [LABEL_MAX, 'bytes'], LABEL_WORDS)
export const dnsLabel: NameRule = (name) => (name.includes('.') ? ['must not contain dots'] : label(name))
export const dns1035Label = rule(LABEL_1035, [LABEL_MAX, 'bytes'], LABEL_1035_WORDS)
export const labelValue = rule(VALUE, [LABEL_MAX, 'bytes'], VALUE_WORDS)

/** A label or annotation key, or a finalizer: `name` or `prefix.example.com/name`. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split('/')
  if (parts.length > 2) {
    return [
      `a qualified name ${QUALIFIED_WORDS.slice('name part '.length)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const name = parts.at(-1) ?? ''
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined
  return [
    ...(prefix === '' ? ['prefix part must be non-empty'] : []),
    ...(prefix ? subdomain(prefix).map((problem) => `prefix part ${problem}`) : []),
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(name.length > LABEL_MAX ? [`name part must be no more than ${LABEL_MAX} bytes`] : []),
    ...(QUALIFIED.test(name) ? [] : [QUALIFIED_WORDS]),
  ]
}

export function invalidValue(field: string, value: unknown, detail: string): Cause {
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${shown}: ${detail}`, field }
}

export function requiredValue(field: string, detail = ''): Cause {
  return {
    reason: 'FieldValueRequired',
    message: detail ? `Required value: ${detail}` : 'Required value',
    field,
  }
}

export function forbiddenValue(field: string, detail: string): Cause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${detail}`, field }
}

export function unsupportedValue(field: string, value: string, supported: readonly string[]): Cause {
  const words = supported.map((s) => JSON.stringify(s)).join(', ')
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${value}: supported values: ${words}`,
    field,
  }
}
