import type { Type as TypeBox } from 'typebox'

type Schema = Record<string, unknown>
type Builders =
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'

/** TypeBox marks an optional property in the same way, out of the sight of `JSON.stringify`. */
const OPTIONAL = '~optional'

const of =
  (type: string) =>
  (options: Schema = {}): Schema => ({ type, ...options })

/**
 * What the wire and the edge use of TypeBox, with its names, its types and its JSON schemas, and none of its weight: the
 * library itself costs an edge 3 MB and a tenth of its start.
 */
export const Type = {
  Array: (items: Schema, options: Schema = {}) => ({ type: 'array', items, ...options }),
  Boolean: of('boolean'),
  Integer: of('integer'),
  Literal: (value: unknown) => ({ type: typeof value, const: value }),
  Number: of('number'),
  Object: (properties: Readonly<Record<string, Schema>>, options: Schema = {}) => {
    const required = Object.keys(properties).filter((name) => !properties[name]?.[OPTIONAL])
    return { type: 'object', required, properties, ...options }
  },
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Record: (key: Schema, value: Schema, options: Schema = {}) => {
    const pattern = typeof key['pattern'] === 'string' ? key['pattern'] : '^.*$'
    return { type: 'object', patternProperties: { [pattern]: value }, ...options }
  },
  String: of('string'),
  Union: (anyOf: readonly Schema[], options: Schema = {}) => ({ anyOf, ...options }),
  Unknown: () => ({}),
  Unsafe: (schema: Schema) => schema,
} as unknown as Pick<typeof TypeBox, Builders>
