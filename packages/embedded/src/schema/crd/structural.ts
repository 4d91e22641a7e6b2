import { forbidden, invalid, required } from '../cause.ts'
import { deepEqual } from '../json.ts'
import { child, index, key } from '../path.ts'
import { compilePattern } from '../pattern.ts'
import { extraSchema } from '../prune.ts'
import type { Cause, Json, JsonSchema } from '../types.ts'

export type Level = 'root' | 'item' | 'field'

const NO_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

/** Words that may only stand outside of `allOf`, `anyOf`, `oneOf` and `not`, with what is said of them inside. */
const FORBIDDEN_NESTED: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
]

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }]

function isIntOrString(list: readonly JsonSchema[] | undefined): boolean {
  return list !== undefined && deepEqual(list as unknown as Json, INT_OR_STRING)
}

function patternCauses(schema: JsonSchema, path: string): readonly Cause[] {
  if (schema.pattern === undefined) return []
  try {
    compilePattern(schema.pattern)
    return []
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    return [
      invalid(
        child(path, 'pattern'),
        schema.pattern,
        `must be a valid regular expression, but isn't: ${why}`,
      ),
    ]
  }
}

function junctorCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const skipAny = schema['x-kubernetes-int-or-string'] && isIntOrString(schema.anyOf)
  const each = (name: 'allOf' | 'anyOf' | 'oneOf') =>
    (name === 'anyOf' && skipAny ? [] : (schema[name] ?? [])).flatMap((nested, i) => {
      const typesAllowed = name === 'allOf' && i === 0 && isIntOrString(nested.anyOf)
      const plain = typesAllowed ? withoutAnyOf(nested) : nested
      return nestedCauses(plain, index(child(path, name), i))
    })
  const not = schema.not === undefined ? [] : nestedCauses(schema.not, child(path, 'not'))
  return [...each('anyOf'), ...each('allOf'), ...each('oneOf'), ...not, ...patternCauses(schema, path)]
}

function withoutAnyOf(schema: JsonSchema): JsonSchema {
  const { anyOf: _, ...rest } = schema
  return rest
}

/** A schema under a junctor: it restricts, but it declares nothing. */
function nestedCauses(nested: JsonSchema, path: string): readonly Cause[] {
  const words = FORBIDDEN_NESTED.filter(([name]) => nested[name] !== undefined && nested[name] !== false)
  const properties = Object.entries(nested.properties ?? {}).flatMap(([name, property]) => {
    const at = key(child(path, 'properties'), name)
    if (name === 'metadata') return [forbidden(at, 'must not be specified in a nested context')]
    return nestedCauses(property, at)
  })
  return [
    ...junctorCauses(nested, path),
    ...(nested.items ? nestedCauses(nested.items, child(path, 'items')) : []),
    ...properties,
    ...words.map(([name, why]) => forbidden(child(path, name), why)),
  ]
}

function typeCauses(schema: JsonSchema, level: Level, path: string): readonly Cause[] {
  const { type = '' } = schema
  const at = child(path, 'type')
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true'
    return [type === '' ? required(at, why) : invalid(at, type, why)]
  }
  const open = schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields']
  if (type === '' && !open) return [required(at, NO_TYPE[level])]
  return level === 'root' && type !== '' && type !== 'object'
    ? [invalid(at, type, 'must be object at the root')]
    : []
}

function extensionCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const causes: Cause[] = []
  if (schema['x-kubernetes-int-or-string']) {
    for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
      if (schema[name]) {
        causes.push(invalid(child(path, name), true, 'must be false if x-kubernetes-int-or-string is true'))
      }
    }
  }
  const empty = Object.keys(schema.properties ?? {}).length === 0
  if (schema['x-kubernetes-embedded-resource'] && !schema['x-kubernetes-preserve-unknown-fields'] && empty) {
    const why =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    causes.push(required(child(path, 'properties'), why))
  }
  return causes
}

function additionalCauses(schema: JsonSchema, level: Level, path: string): readonly Cause[] {
  const at = child(path, 'additionalProperties')
  if (schema.additionalProperties === undefined) return []
  const extra = extraSchema(schema)
  return [
    ...(level === 'root' ? [forbidden(at, 'must not be used at the root')] : []),
    ...(schema['x-kubernetes-embedded-resource']
      ? [forbidden(at, 'must not be used if x-kubernetes-embedded-resource is set')]
      : []),
    ...(extra === undefined ? [] : structuralCauses(extra, at, 'field')),
  ]
}

function metadataCauses(schema: JsonSchema, level: Level, path: string): readonly Cause[] {
  const metadata = schema.properties?.metadata
  if (metadata === undefined || level !== 'root') return []
  const at = key(child(path, 'properties'), 'metadata')
  const causes =
    metadata.type === 'object' ? [] : [invalid(child(at, 'type'), metadata.type ?? '', 'must be object')]
  const { type: _, properties = {}, ...rest } = metadata
  const onlyNames = Object.keys(properties).every((name) => name === 'name' || name === 'generateName')
  const why =
    'must not specify anything other than name and generateName, but metadata is implicitly specified'
  return onlyNames && Object.keys(rest).length === 0 ? causes : [...causes, forbidden(at, why)]
}

/** Whether a schema is structural: every field has a type outside of junctors (ValidateStructural of Kubernetes). */
export function structuralCauses(schema: JsonSchema, path: string, level: Level = 'root'): readonly Cause[] {
  const items = schema.items
  const missingItems = schema.type === 'array' && items === undefined
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    structuralCauses(property, key(child(path, 'properties'), name), 'field'),
  )
  return [
    ...(missingItems ? [required(child(path, 'items'), 'must be specified')] : []),
    ...(items === undefined ? [] : structuralCauses(items, child(path, 'items'), 'item')),
    ...properties,
    ...additionalCauses(schema, level, path),
    ...extensionCauses(schema, path),
    ...junctorCauses(schema, path),
    ...typeCauses(schema, level, path),
    ...metadataCauses(schema, level, path),
  ]
}
