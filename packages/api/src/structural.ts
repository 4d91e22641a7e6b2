import { invariant } from '@upgrade-hub/core'
import type { TSchema } from 'typebox'

/** OpenAPI v3 as a structural schema of apiextensions.k8s.io/v1: no unions but of number and text, every other node typed. */
export interface StructuralSchema {
  type?: string
  description?: string
  properties?: Record<string, StructuralSchema>
  additionalProperties?: StructuralSchema
  items?: StructuralSchema
  [keyword: string]: unknown
}

const NESTED = new Set(['properties', 'patternProperties', 'items'])

/**
 * Rewrites a TypeBox schema as a structural schema: Record becomes `additionalProperties`, everything else is copied.
 * @throws InvariantError for what a structural schema cannot say (a union that is not an enum, a nested any).
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
 */
export function toStructural(schema: TSchema, at = ''): StructuralSchema {
  const source = schema as unknown as Record<string, unknown>
  const type = source['type']
  const isUnion = source['x-kubernetes-int-or-string'] === true
  invariant(isUnion || typeof type === 'string', `${at || 'schema'} has no type, so it is not structural`)
  const out: StructuralSchema = typeof type === 'string' ? { type } : {}
  for (const [keyword, value] of Object.entries(source)) {
    if (!NESTED.has(keyword) && keyword !== 'type') out[keyword] = value
  }
  const properties = source['properties'] as Record<string, TSchema> | undefined
  if (properties)
    out.properties = mapValues(properties, (child, name) => toStructural(child, `${at}.${name}`))
  const patterns = source['patternProperties'] as Record<string, TSchema> | undefined
  const values = patterns && Object.values(patterns)[0]
  if (values) out.additionalProperties = toStructural(values, `${at}[*]`)
  if (source['items']) out.items = toStructural(source['items'] as TSchema, `${at}[]`)
  return out
}

function mapValues<A, B>(record: Record<string, A>, map: (value: A, key: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]))
}
