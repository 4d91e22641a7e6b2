import { type Draft, isArray, isObject, type Json, type JsonObject } from '../json.ts'
import type { Registry } from '../registry/registry.ts'
import { openApiDocument, openApiPaths } from './openapi-v3.ts'

/** What OpenAPI v2 cannot say. */
const V3_ONLY = new Set(['nullable', 'oneOf', 'anyOf', 'not'])

/** GET /openapi/v2: the schemas of all group versions in one Swagger document, for clients of before 1.24. */
export function openApiV2(registry: Registry): JsonObject {
  const paths: Draft = {}
  const definitions: Draft = {}
  for (const gv of openApiPaths(registry).values()) {
    const document = openApiDocument(registry, gv)
    Object.assign(paths, document['paths'])
    const components = document['components']
    if (isObject(components)) Object.assign(definitions, downgrade(components['schemas'] ?? {}))
  }
  return { swagger: '2.0', info: { title: 'Kubernetes', version: 'v1' }, paths, definitions }
}

function downgrade(value: Json): Json {
  if (isArray(value)) return value.map(downgrade)
  if (!isObject(value)) return value
  const reference = soleReference(value)
  if (reference)
    return { ...(value['description'] ? { description: value['description'] } : {}), $ref: reference }
  const out: Draft = {}
  for (const [key, inner] of Object.entries(value)) {
    if (!V3_ONLY.has(key)) out[key] = downgrade(inner)
  }
  return value['oneOf'] ? { type: 'string', ...out } : out
}

function soleReference(schema: JsonObject): string | undefined {
  const all = schema['allOf']
  const target = isArray(all) && isObject(all[0]) ? all[0]['$ref'] : schema['$ref']
  return typeof target === 'string' ? target.replace('#/components/schemas/', '#/definitions/') : undefined
}
