import { readFileSync } from 'node:fs'
import { assign, at, isArray, isObject, type Json, type JsonObject, objectAt } from '../json.ts'

/** A schema of the OpenAPI document of the built-in kinds; `$ref` and a lone `allOf` point to definitions. */
export type Schema = JsonObject

const PREFIX = '#/components/schemas/'
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.'

let loaded: Readonly<Record<string, Schema>> | undefined

/** Every definition by name, as kube-apiserver publishes them (see generate.ts). Read once, when first asked for. */
export function definitions(): Readonly<Record<string, Schema>> {
  loaded ??= JSON.parse(readFileSync(new URL('definitions.json', import.meta.url), 'utf8')) as Record<
    string,
    Schema
  >
  return loaded
}

export function kindSchema(name: string): Schema {
  return resolve({ $ref: PREFIX + name })
}

/** The schema of a type of `meta/v1`: ObjectMeta, DeleteOptions. */
export function metaSchema(name: string): Schema {
  return kindSchema(META + name)
}

/** The name that a schema points to, undefined when it says itself what it is. */
export function referenceOf(schema: Schema): string | undefined {
  const all = schema['allOf']
  const target = isArray(all) && isObject(all[0]) ? all[0]['$ref'] : schema['$ref']
  return typeof target === 'string' ? target.slice(PREFIX.length) : undefined
}

const resolved = new WeakMap<Schema, Schema>()
const names = new WeakMap<Schema, string>()

/** The schema itself, or the definition that it points to with its own extensions laid over. */
export function resolve(schema: Schema): Schema {
  const known = resolved.get(schema)
  if (known) return known
  const name = referenceOf(schema)
  const { allOf: _allOf, $ref: _ref, ...own } = schema
  const found = name === undefined ? schema : assign(definitions()[name] ?? {}, own)
  resolved.set(schema, found)
  if (name !== undefined) names.set(found, name)
  return found
}

/** The full name of the definition that a schema was resolved from, '' for what stands in place. */
export function definitionName(schema: Schema): string {
  return names.get(schema) ?? ''
}

/** `NodeSpec` for what was resolved from that definition, '' for what stands in place. */
export function structName(schema: Schema): string {
  const name = definitionName(schema)
  return name.slice(name.lastIndexOf('.') + 1)
}

/** The schema of one field of an object, or of the values of a map; undefined when neither is known. */
export function fieldSchema(schema: Schema, field: string): Schema | undefined {
  const properties = objectAt(schema, 'properties')
  const own = Object.hasOwn(properties, field) ? properties[field] : schema['additionalProperties']
  return isObject(own) ? resolve(own) : undefined
}

export function itemSchema(schema: Schema | undefined): Schema | undefined {
  const items = schema?.['items']
  return isObject(items) ? resolve(items) : undefined
}

/** Whether objects of this schema are free: raw JSON, `fieldsV1`, a schema within a schema. */
export function isFree(schema: Schema): boolean {
  return (
    !schema['properties'] &&
    !schema['additionalProperties'] &&
    schema['type'] !== 'array' &&
    !isScalar(schema)
  )
}

const SCALARS: readonly Json[] = ['string', 'boolean', 'integer', 'number']

function isScalar(schema: Schema): boolean {
  return SCALARS.includes(schema['type'] ?? '') || at(schema, 'oneOf') !== undefined
}
