import type { TSchema } from 'typebox'

type Schema = Readonly<Record<string, unknown>>

/** A copy of the value in which every property that is absent and has a default has it, to the depths. */
export function withDefaults(schema: TSchema, value: unknown): unknown {
  return filled(schema as Schema, value)
}

function filled({ properties, items }: Schema, value: unknown): unknown {
  if (Array.isArray(value)) return items ? value.map((item: unknown) => filled(items as Schema, item)) : value
  if (typeof value !== 'object' || value === null || !properties) return value
  const known = properties as Readonly<Record<string, Schema>>
  const given = Object.entries(value).map(([name, one]) => {
    const schema = Object.hasOwn(known, name) ? known[name] : undefined
    return [name, schema ? filled(schema, one) : one]
  })
  const absent = Object.entries(known)
    .filter(([name, schema]) => 'default' in schema && !Object.hasOwn(value, name))
    .map(([name, schema]) => [name, filled(schema, structuredClone(schema['default']))])
  return Object.fromEntries([...given, ...absent])
}
