import { forbidden, invalid, notSupported, required } from '../cause.ts'
import { child, key } from '../path.ts'
import type { Cause, JsonSchema } from '../types.ts'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']

/** Words of JSON Schema that a CRD may not use. */
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref']

function wordCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const used = UNSUPPORTED.filter((word) => Object.hasOwn(schema, word))
  const causes = used.map((word) => forbidden(child(path, word), `${word} is not supported`))
  const { type, uniqueItems, properties, additionalProperties } = schema
  if (type !== undefined && type !== '' && !TYPES.includes(type)) {
    causes.push(notSupported(child(path, 'type'), type, TYPES))
  }
  if (uniqueItems) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    causes.push(forbidden(child(path, 'uniqueItems'), why))
  }
  const both = additionalProperties !== undefined && additionalProperties !== true
  if (both && Object.keys(properties ?? {}).length > 0) {
    const at = child(path, 'additionalProperties')
    causes.push(forbidden(at, 'additionalProperties and properties are mutual exclusive'))
  }
  return causes
}

function typeMustBe(type: string, schema: JsonSchema, path: string, why: string): readonly Cause[] {
  if (schema.type === type) return []
  const at = child(path, 'type')
  return [schema.type ? invalid(at, schema.type, why) : required(at, why)]
}

function mapTypeCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return []
  const known = ['atomic', 'granular']
  return [
    ...typeMustBe('object', schema, path, 'must be object if x-kubernetes-map-type is specified'),
    ...(known.includes(mapType) ? [] : [notSupported(child(path, 'x-kubernetes-map-type'), mapType, known)]),
  ]
}

function mapKeyCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const at = child(path, 'x-kubernetes-list-map-keys')
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const { items } = schema
  if (keys.length === 0) return [required(at, 'must not be empty if x-kubernetes-list-type is map')]
  if (items === undefined) return []
  if (items.type !== 'object') {
    const why = "must be object if parent array's x-kubernetes-list-type is map"
    return [invalid(child(child(path, 'items'), 'type'), items.type ?? '', why)]
  }
  const repeated = new Set(keys).size !== keys.length
  return [
    ...(repeated ? [invalid(at, [...keys], 'must not contain duplicate entries')] : []),
    ...keys.flatMap((name) => mapKeyCause(name, schema, items, path)),
  ]
}

function mapKeyCause(name: string, schema: JsonSchema, items: JsonSchema, path: string): readonly Cause[] {
  const property = items.properties?.[name]
  if (property === undefined) {
    const at = child(path, 'x-kubernetes-list-map-keys')
    return [
      invalid(
        at,
        [...(schema['x-kubernetes-list-map-keys'] ?? [])],
        'entries must all be names of item properties',
      ),
    ]
  }
  const at = key(child(child(path, 'items'), 'properties'), name)
  const causes: Cause[] = []
  if (property.type === 'array' || property.type === 'object') {
    const why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
    causes.push(invalid(child(at, 'type'), items.type ?? '', why))
  }
  const given = items.required?.includes(name) || property.default !== undefined
  const is = 'this property is in x-kubernetes-list-map-keys, so it'
  if (!given)
    causes.push(required(child(at, 'default'), `${is} must have a default or be a required property`))
  if (property.nullable) causes.push(forbidden(child(at, 'nullable'), `${is} cannot be nullable`))
  return causes
}

function setItemCauses(items: JsonSchema | undefined, path: string): readonly Cause[] {
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const list = items?.['x-kubernetes-list-type']
  const map = items?.['x-kubernetes-map-type']
  const at = (word: string) => child(child(path, 'items'), word)
  if (items?.type === 'array' && list !== undefined && list !== 'atomic') {
    return [invalid(at('x-kubernetes-list-type'), list, why)]
  }
  return items?.type === 'object' && map !== 'atomic'
    ? [invalid(at('x-kubernetes-map-type'), map ?? null, why)]
    : []
}

function listTypeCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const type = schema['x-kubernetes-list-type']
  const at = child(path, 'x-kubernetes-list-type')
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const needsMap = 'must be map if x-kubernetes-list-map-keys is non-empty'
  if (type === undefined) return keys.length === 0 ? [] : [required(at, needsMap)]
  const nullable = type !== 'atomic' && schema.items?.nullable === true
  return [
    ...typeMustBe('array', schema, path, 'must be array if x-kubernetes-list-type is specified'),
    ...(['atomic', 'set', 'map'].includes(type) ? [] : [notSupported(at, type, ['atomic', 'set', 'map'])]),
    ...(keys.length > 0 && type !== 'map' ? [invalid(at, type, needsMap)] : []),
    ...(type === 'set' ? setItemCauses(schema.items, path) : []),
    ...(type === 'map' ? mapKeyCauses(schema, path) : []),
    ...(nullable
      ? [forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${type}`)]
      : []),
  ]
}

/** The words of one schema node that a CRD may not say, or not together. */
export function schemaWordCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const closed = schema['x-kubernetes-preserve-unknown-fields'] === false
  const at = child(path, 'x-kubernetes-preserve-unknown-fields')
  return [
    ...wordCauses(schema, path),
    ...mapTypeCauses(schema, path),
    ...listTypeCauses(schema, path),
    ...(closed ? [invalid(at, false, 'must be true or undefined')] : []),
  ]
}
