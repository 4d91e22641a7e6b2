import { forbidden } from '../cause.ts'
import { child, index, key } from '../path.ts'
import { extraSchema } from '../prune.ts'
import type { Cause, JsonSchema } from '../types.ts'
import { defaultCauses } from './default-causes.ts'
import { ruleCauses } from './rule-causes.ts'
import { schemaWordCauses } from './schema-words.ts'
import { structuralCauses } from './structural.ts'

/** Where a schema node stands. */
interface Place {
  readonly path: string
  readonly isRoot: boolean
  readonly uncorrelatable: string | undefined
  /** Why no default may be set here. */
  readonly noDefaults: string | undefined
}

type Check = (schema: JsonSchema, place: Place) => readonly Cause[]

const META_FIELDS = ['apiVersion', 'kind', 'metadata']

/** Runs a check on every node that a value can have: properties, entries and items. */
function walk(schema: JsonSchema, place: Place, check: Check): readonly Cause[] {
  const { path } = place
  const inner = { ...place, isRoot: false }
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const meta = place.isRoot && META_FIELDS.includes(name)
    const noDefaults = meta ? `in top-level ${name}` : place.noDefaults
    return walk(property, { ...inner, path: key(child(path, 'properties'), name), noDefaults }, check)
  })
  const listed = schema['x-kubernetes-list-type'] === 'map'
  const uncorrelatable = listed ? place.uncorrelatable : (place.uncorrelatable ?? path)
  const extra = extraSchema(schema)
  return [
    ...check(schema, place),
    ...properties,
    ...(schema.items
      ? walk(schema.items, { ...inner, path: child(path, 'items'), uncorrelatable }, check)
      : []),
    ...(extra ? walk(extra, { ...inner, path: child(path, 'additionalProperties') }, check) : []),
    ...junctors(schema, path).flatMap(([nested, at]) => walk(nested, { ...inner, path: at }, schemaWords)),
  ]
}

function junctors(schema: JsonSchema, path: string): readonly (readonly [JsonSchema, string])[] {
  const each = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
    (schema[name] ?? []).map((nested, i) => [nested, index(child(path, name), i)] as const),
  )
  return schema.not === undefined ? each : [...each, [schema.not, child(path, 'not')] as const]
}

const schemaWords: Check = (schema, { path }) => schemaWordCauses(schema, path)
const defaults: Check = (schema, { path, noDefaults }) => defaultCauses(schema, path, noDefaults)

/** Every problem of the schema of a version; rules are looked at only when the schema itself is sound. */
export function schemaCauses(schema: JsonSchema, path: string): readonly Cause[] {
  const root: Place = { path, isRoot: true, uncorrelatable: undefined, noDefaults: undefined }
  const nullable = schema.nullable
    ? [forbidden(child(path, 'nullable'), 'nullable cannot be true at the root')]
    : []
  const structure = [...nullable, ...structuralCauses(schema, path), ...walk(schema, root, schemaWords)]
  if (structure.length > 0) return structure
  return [...walk(schema, root, defaults), ...walk(schema, root, ruleCauses)]
}
