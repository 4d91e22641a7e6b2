import type { Json } from './types.ts'

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

function escapeRune(rune: string): string {
  const short = SHORT_ESCAPES[rune]
  if (short !== undefined) return short
  if (PRINTABLE.test(rune)) return rune
  const code = rune.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}

/** The text in double quotes as Go's `%q` prints it, which is how an API server quotes a bad value. */
export function goQuote(text: string): string {
  return `"${Array.from(text, escapeRune).join('')}"`
}

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]))
}

/** JSON text as Go writes it: fit to stand in HTML. */
export function escapeHtml(json: string): string {
  const escape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  return json.replace(/[<>&\u2028\u2029]/g, escape)
}

/** JSON as Go's encoder writes a map: sorted keys, and `<`, `>`, `&` escaped. */
export function goJson(value: Json): string {
  return escapeHtml(JSON.stringify(sortKeys(value)))
}

/** A number as Go's `%v` prints it: what is no int64 is a float64, which turns to exponents at a million. */
export function goNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return String(value)
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return String(value)
  const sign = power < 0 ? '-' : '+'
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, '0')}`
}
