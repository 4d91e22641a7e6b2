import { invalid, type Shown } from './cause.ts'
import type { Cause, JsonSchema } from './types.ts'

const INT32 = 2 ** 31
const INT64 = 2 ** 63

function outOfRange(value: number, schema: JsonSchema): boolean {
  if (schema.type !== 'integer') return false
  const bound = schema.format === 'int32' ? INT32 : INT64
  return value < -bound || value >= bound
}

function rangeCause(path: string, schema: JsonSchema): Cause {
  const format = schema.format === 'int32' || schema.format === 'int64' ? `format ${schema.format}` : ''
  const kind = format === '' ? `${schema.type} (default format)` : `${schema.type} with ${format}`
  return invalid('', '', `Checked value must be of type ${kind} in ${path}`)
}

/** The bounds of a number, in the words and with the paths of kube-openapi. */
export function numberCauses(value: number, schema: JsonSchema, path: string): readonly Cause[] {
  const says = (text: string) => invalid(path, value as Shown, `${path} in body ${text}`)
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema
  const causes: Cause[] = []
  if (outOfRange(value, schema)) causes.push(rangeCause(path, schema))
  if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
    causes.push(says(`should be a multiple of ${multipleOf}`))
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    causes.push(says(`should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`))
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    causes.push(says(`should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`))
  }
  return causes
}
