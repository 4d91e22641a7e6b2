import { invalid, notSupported, required, tooMany, typeInvalid } from './cause.ts'
import type { Correlated } from './correlation.ts'
import { isKnownFormat } from './formats.ts'
import { goQuote } from './go-text.ts'
import { deepEqual, isList, isObject, own } from './json.ts'
import { extraSchema } from './prune.ts'
import type { Cause, Json, JsonObject, JsonSchema } from './types.ts'
import { numberCauses } from './validate-number.ts'
import { stringCauses } from './validate-string.ts'

/** A value on its way through the schema, with the causes found so far. */
interface Visit {
  readonly path: string
  readonly correlated: Correlated | undefined
  readonly causes: Cause[]
}

function typeNames(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string']
  return schema.type === undefined || schema.type === '' ? [] : [schema.type]
}

/** The JSON type, and the format that kube-openapi derives from Go's representation. */
function typeOf(value: Json): { name: string; format: string } {
  if (isList(value)) return { name: 'array', format: '' }
  if (isObject(value)) return { name: 'object', format: '' }
  if (typeof value === 'number') {
    return Number.isInteger(value) && Math.abs(value) <= 2 ** 63
      ? { name: 'integer', format: 'int64' }
      : { name: 'number', format: 'float64' }
  }
  return { name: value === null ? 'null' : typeof value, format: '' }
}

/** The format as far as an API server knows it; unknown ones are as if absent. */
function knownFormat(schema: JsonSchema): string | undefined {
  const { format } = schema
  if (format === undefined) return undefined
  if (schema.type === 'integer') return /^int(32|64)$/.test(format) ? format : undefined
  if (schema.type === 'number') return /^(float|double)$/.test(format) ? format : undefined
  return schema.type === 'string' && isKnownFormat(format) ? format : undefined
}

function typeCause(value: Json, schema: JsonSchema, path: string): Cause | undefined {
  const expected = typeNames(schema)
  const actual = typeOf(value)
  if (value === null && schema.nullable) return undefined
  if (expected.length === 0 || expected.includes(actual.name)) return undefined
  if (actual.name === 'integer' && expected.includes('number')) return undefined
  const says = (type: string, found: string) =>
    typeInvalid(path, found, `${path} in body must be of type ${type}: ${goQuote(found)}`)
  const format = knownFormat(schema)
  if (format === undefined || value === null) return says(expected.join(','), actual.name)
  if (typeof value !== 'string' && !isList(value)) return says(format, actual.format)
  // kube-openapi does not compare the type of a list with that of a formatted string.
  return schema.type === 'string' ? undefined : says(expected.join(','), actual.name)
}

function validateItems(list: readonly Json[], schema: JsonSchema, visit: Visit): void {
  const { path, causes, correlated } = visit
  const { items, minItems, maxItems } = schema
  if (items !== undefined) {
    list.forEach((item, i) => {
      visitValue(item, items, { path: `${path}[${i}]`, causes, correlated: correlated?.index(i) })
    })
  }
  if (minItems !== undefined && list.length < minItems) {
    causes.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && list.length > maxItems) causes.push(tooMany(path, list.length, maxItems))
}

function validateEntries(object: JsonObject, schema: JsonSchema, visit: Visit): void {
  const { path, causes, correlated } = visit
  const extra = extraSchema(schema)
  for (const [name, value] of Object.entries(object)) {
    const property = own(schema.properties, name)
    const field = property ?? extra
    // An entry of a map is written with a dot here: brackets are for the rules that Kubernetes added later.
    const at = path === '' ? name : `${path}.${name}`
    if (field !== undefined) visitValue(value, field, { path: at, causes, correlated: correlated?.key(name) })
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(object, name)) causes.push(required(path === '' ? name : `${path}.${name}`))
  }
}

function validateSize(object: JsonObject, schema: JsonSchema, visit: Visit): void {
  const size = Object.keys(object).length
  const { path, causes } = visit
  const { minProperties, maxProperties } = schema
  if (minProperties !== undefined && size < minProperties) {
    causes.push(invalid(path, size, `${path} in body should have at least ${minProperties} properties`))
  }
  if (maxProperties !== undefined && size > maxProperties) causes.push(tooMany(path, size, maxProperties))
}

function alone(value: Json, schema: JsonSchema, visit: Visit): readonly Cause[] {
  const causes: Cause[] = []
  visitValue(value, schema, { ...visit, causes })
  return causes
}

function hasJunctors({ allOf, anyOf, oneOf, not }: JsonSchema): boolean {
  return (allOf ?? anyOf ?? oneOf ?? not) !== undefined
}

/** `allOf`, `anyOf`, `oneOf` and `not`; the verdict on the junctor itself has no field in Kubernetes. */
function validateJunctors(value: Json, schema: JsonSchema, visit: Visit): void {
  const { path, causes } = visit
  const says = (text: string) => causes.push(invalid('', '', `${goQuote(path)} must ${text}`))
  const failures = (list: readonly JsonSchema[] = []) => list.map((s) => alone(value, s, visit))
  const any = failures(schema.anyOf)
  if (any.length > 0 && any.every((found) => found.length > 0)) {
    says('validate at least one schema (anyOf)')
    causes.push(...(any[0] ?? []))
  }
  const one = failures(schema.oneOf)
  const passed = one.filter((found) => found.length === 0).length
  if (one.length > 0 && passed !== 1) {
    const found = passed === 0 ? 'Found none valid' : `Found ${passed} valid alternatives`
    says(`validate one and only one schema (oneOf). ${found}`)
    if (passed === 0) causes.push(...(one[0] ?? []))
  }
  const all = failures(schema.allOf)
  causes.push(...all.flat())
  if (all.some((found) => found.length > 0)) {
    says(`validate all the schemas (allOf)${all.every((f) => f.length > 0) ? '. None validated' : ''}`)
  }
  if (schema.not !== undefined && alone(value, schema.not, visit).length === 0)
    says('not validate the schema (not)')
}

function validateShape(value: Json, schema: JsonSchema, visit: Visit): void {
  const { path, causes } = visit
  if (typeof value === 'string') causes.push(...stringCauses(value, schema, path))
  if (typeof value === 'number') causes.push(...numberCauses(value, schema, path))
  if (isList(value)) validateItems(value, schema, visit)
  if (isObject(value)) {
    validateSize(value, schema, visit)
    validateEntries(value, schema, visit)
  }
}

/** Causes of an unchanged value are dropped: that is ratcheting. */
function visitValue(value: Json, schema: JsonSchema, visit: Visit): void {
  const { path, causes, correlated } = visit
  const before = causes.length
  const wrongType = typeCause(value, schema, path)
  if (wrongType !== undefined) causes.push(wrongType)
  if (value !== null) {
    if (hasJunctors(schema)) validateJunctors(value, schema, visit)
    validateShape(value, schema, visit)
  }
  const allowed = schema.enum
  if (
    allowed !== undefined &&
    allowed.length > 0 &&
    (value === null || !allowed.some((v) => deepEqual(v, value)))
  ) {
    causes.push(notSupported(path, value, allowed))
  }
  if (causes.length > before && correlated?.unchanged) causes.length = before
}

/**
 * Every violation of the OpenAPI part of a schema: types, formats, bounds, patterns, enums, required fields and
 * junctors, with the messages of kube-openapi. `correlated` turns ratcheting on.
 */
export function validateValue(
  value: Json,
  schema: JsonSchema,
  at: { readonly path: string; readonly correlated?: Correlated | undefined },
): readonly Cause[] {
  const causes: Cause[] = []
  visitValue(value, schema, { path: at.path, correlated: at.correlated, causes })
  return causes
}
