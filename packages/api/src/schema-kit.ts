import { type TSchema, type TSchemaOptions, Type } from 'typebox'

/** A rule of `x-kubernetes-validations`. */
export interface CelRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/** A description in plain words, with unit and default, is what `kubectl explain` shows: every field has one. */
type Options = TSchemaOptions & { description: string }

export const text = (description: string, options: TSchemaOptions = {}) =>
  Type.Optional(Type.String({ ...options, description }))

export const integer = (description: string, options: TSchemaOptions = {}) =>
  Type.Optional(Type.Integer({ format: 'int32', ...options, description }))

export const counter = (description: string, options: TSchemaOptions = {}) =>
  Type.Optional(Type.Integer({ format: 'int64', ...options, description }))

/** A number of nodes, or a percentage of them such as "10%". */
export type Amount = number | string

export const amount = (description: string, { minimum = 1 }: { minimum?: number } = {}) =>
  Type.Optional(
    Type.Unsafe<Amount>({
      'x-kubernetes-int-or-string': true,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      minimum,
      maximum: 10_000,
      pattern: '^(100|[1-9][0-9]?)%$',
      maxLength: 4,
      description,
    }),
  )

export const flag = (description: string, options: TSchemaOptions = {}) =>
  Type.Optional(Type.Boolean({ ...options, description }))

export const list = <T extends TSchema>(item: T, options: Options) => Type.Optional(Type.Array(item, options))

/** A closed set of words, emitted as `type: string` with `enum`, because structural schemas know no unions. */
export const oneOf = <const T extends readonly string[]>(values: T, options: Options) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options })

export const rules = (...validations: CelRule[]) => ({ 'x-kubernetes-validations': validations })

/** A ratio from 0 to 1 as text. */
export const RATIO = String.raw`^(0|1|0?[.][0-9]{1,9}|0[.]|1[.]0{0,9})$`

export const SECOND_BOUNDS = { minimum: 0, maximum: 604_800 }
