import { invalid } from './cause.ts'
import { goNumber } from './go-text.ts'
import type { Cause, JsonSchema } from './types.ts'

const INT32 = 2 ** 31
const INT64 = 2 ** 63

function outOfRange(value: number, schema: JsonSchema): boolean {
  if (schema.type !== 'integer') return false
  const bound = schema.format === 'int32' ? INT32 : INT64
  return !Number.isInteger(value) || value < -bound || value >= bound
}

function rangeCause(path: string, schema: JsonSchema): Cause {
  const format =
    schema.format === 'int32' || schema.format === 'int64'
      ? `with format ${schema.format}`
      : '(default format)'
  return invalid('', '', `Checked value must be of type ${schema.type} ${format} in ${path}`)
}

/** A whole number is compared with whole bounds: kube-openapi cuts the fraction of the bound. */
function boundFor(value: number, bound: number): number {
  return Number.isInteger(value) ? Math.trunc(bound) : bound
}

function multipleCause(value: number, factor: number, path: string): Cause | undefined {
  if (factor <= 0) {
    return invalid(
      path,
      factor,
      `factor MultipleOf declared for ${path} must be positive: ${goNumber(factor)}`,
    )
  }
  if (Number.isInteger(value / factor)) return undefined
  return invalid(path, value, `${path} in body should be a multiple of ${goNumber(factor)}`)
}

/** The bounds of a number, in the words and with the paths of kube-openapi. */
export function numberCauses(value: number, schema: JsonSchema, path: string): readonly Cause[] {
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema
  const causes: (Cause | undefined)[] = []
  const says = (than: string, exclusive: boolean | undefined, bound: number) => {
    const words = `should be ${than} than ${exclusive ? '' : 'or equal to '}${goNumber(bound)}`
    causes.push(invalid(path, value, `${path} in body ${words}`))
  }
  if (outOfRange(value, schema)) causes.push(rangeCause(path, schema))
  if (multipleOf !== undefined) causes.push(multipleCause(value, boundFor(value, multipleOf), path))
  if (minimum !== undefined) {
    const bound = boundFor(value, minimum)
    if (exclusiveMinimum ? value <= bound : value < bound) says('greater', exclusiveMinimum, bound)
  }
  if (maximum !== undefined) {
    const bound = boundFor(value, maximum)
    if (exclusiveMaximum ? value >= bound : value > bound) says('less', exclusiveMaximum, bound)
  }
  return causes.filter((c) => c !== undefined)
}
