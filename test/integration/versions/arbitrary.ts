import type { StructuralSchema } from '@upgrade-hub/api'
import fc, { type Arbitrary } from 'fast-check'

/** Values for some places of a schema, by path such as `.spec.version` or `.spec.checkItems[]`. */
export type Overrides = Readonly<Record<string, Arbitrary<unknown>>>

/**
 * Objects that a structural schema allows, made from the schema itself, so that a field that is added is tried at once. What
 * CEL rules ask beyond it comes from the overrides, or is refused by the server.
 */
export function ofSchema(schema: StructuralSchema, overrides: Overrides, at = ''): Arbitrary<unknown> {
  const override = overrides[at]
  if (override) return override
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
  if (schema['x-kubernetes-int-or-string'] === true)
    return fc.oneof(
      integers(schema),
      fc.integer({ min: 1, max: 100 }).map((n) => `${n}%`),
    )
  switch (schema.type) {
    case 'string':
      return strings(schema)
    case 'integer':
      return integers(schema)
    case 'boolean':
      return fc.boolean()
    case 'array':
      return lists(schema, overrides, at)
    default:
      return objects(schema, overrides, at)
  }
}

function strings({ pattern, maxLength, minLength, format }: StructuralSchema): Arbitrary<string> {
  if (format === 'date-time') return fc.integer({ min: 0, max: 4e9 }).map((s) => rfc3339(s))
  const most = Math.min(typeof maxLength === 'number' ? maxLength : 40, 40)
  if (typeof pattern !== 'string')
    return fc.string({ unit: 'grapheme', maxLength: most, minLength: Number(minLength ?? 0) })
  return fc
    .stringMatching(new RegExp(pattern))
    .filter((text) => text.length <= Number(maxLength ?? text.length))
}

function rfc3339(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
}

function integers({ minimum, maximum, format }: StructuralSchema): Arbitrary<number> {
  const limit = format === 'int32' ? 2 ** 31 - 1 : 2 ** 53 - 1
  return fc.integer({ min: Number(minimum ?? -limit), max: Number(maximum ?? limit) })
}

function lists(schema: StructuralSchema, overrides: Overrides, at: string): Arbitrary<unknown> {
  const item = ofSchema(schema.items ?? {}, overrides, `${at}[]`)
  const maxLength = Math.min(Number(schema['maxItems'] ?? 3), 3)
  const keys = schema['x-kubernetes-list-map-keys']
  if (schema['x-kubernetes-list-type'] === 'atomic' || (!schema['x-kubernetes-list-type'] && !keys))
    return fc.array(item, { maxLength })
  const identity = (value: unknown) =>
    JSON.stringify(
      Array.isArray(keys) ? keys.map((key) => (value as Record<string, unknown>)[String(key)]) : value,
    )
  return fc.uniqueArray(item, { maxLength, selector: identity })
}

function objects(schema: StructuralSchema, overrides: Overrides, at: string): Arbitrary<unknown> {
  const { properties, additionalProperties } = schema
  if (additionalProperties) {
    const key = overrides[`${at}{}`] ?? fc.stringMatching(/^[a-z]{1,8}$/)
    const value = ofSchema(additionalProperties, overrides, `${at}[*]`)
    return fc.dictionary(key as Arbitrary<string>, value, { maxKeys: 3 })
  }
  const fields = Object.entries(properties ?? {}).map(
    ([name, child]) => [name, ofSchema(child, overrides, `${at}.${name}`)] as const,
  )
  const requiredKeys = (schema['required'] as string[] | undefined) ?? []
  return fc.record(Object.fromEntries(fields), { requiredKeys })
}
