import { invalid, tooLong, typeInvalid } from './cause.ts'
import { hasFormat } from './formats.ts'
import { goQuote } from './go-text.ts'
import { matchesPattern } from './pattern.ts'
import type { Cause, JsonSchema } from './types.ts'

/** Length as Kubernetes counts it: in code points. */
function runeCount(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Only the first of length and pattern is said, as kube-openapi does. */
function shapeCause(value: string, schema: JsonSchema, path: string): Cause | undefined {
  const { maxLength, minLength, pattern } = schema
  // A text never has more code points than UTF-16 units: the count is only needed when those are too many.
  if (maxLength !== undefined && value.length > maxLength && runeCount(value) > maxLength) {
    return tooLong(path, maxLength)
  }
  if (minLength !== undefined && runeCount(value) < minLength) {
    return invalid(path, value, `${path} in body should be at least ${minLength} chars long`)
  }
  if (pattern !== undefined && pattern !== '' && !matchesPattern(pattern, value)) {
    return invalid(path, value, `${path} in body should match '${pattern}'`)
  }
  return undefined
}

function formatCause(value: string, { type, format }: JsonSchema, path: string): Cause | undefined {
  if (type !== 'string' || format === undefined || hasFormat(format, value) !== false) return undefined
  return typeInvalid(path, value, `${path} in body must be of type ${format}: ${goQuote(value)}`)
}

const NONE: readonly Cause[] = []

/** Length, pattern and format of a text, in the words of kube-openapi. */
export function stringCauses(value: string, schema: JsonSchema, path: string): readonly Cause[] {
  const shape = shapeCause(value, schema, path)
  const format = formatCause(value, schema, path)
  if (shape === undefined && format === undefined) return NONE
  return [shape, format].filter((c) => c !== undefined)
}
