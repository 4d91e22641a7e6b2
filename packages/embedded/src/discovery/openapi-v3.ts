import { createHash } from 'node:crypto'
import { definitions, type Schema } from '../builtin/definitions.ts'
import type { CustomResource } from '../crd/custom-resource.ts'
import { type Draft, isArray, isObject, type Json, type JsonObject } from '../json.ts'
import type { Registry } from '../registry/registry.ts'
import { hasStatus, type Resource } from '../registry/resource.ts'
import { reviewKinds } from '../verbs/reviews.ts'
import { groupVersions } from './discovery.ts'

const REF = '#/components/schemas/'
const DIGEST_LENGTH = 32

interface GroupVersion {
  readonly group: string
  readonly version: string
}

function pathOf({ group, version }: GroupVersion): string {
  return group ? `apis/${group}/${version}` : `api/${version}`
}

/** Every group version that has a document, by its path below /openapi/v3. */
export function openApiPaths(registry: Registry): ReadonlyMap<string, GroupVersion> {
  const all = [...groupVersions(registry)].flatMap(([group, versions]) =>
    versions.map((version) => ({ group, version })),
  )
  return new Map([{ group: '', version: 'v1' }, ...all].map((gv) => [pathOf(gv), gv]))
}

/** GET /openapi/v3: the documents, with a digest that changes when they do. */
export function openApiIndex(registry: Registry): JsonObject {
  const paths = [...openApiPaths(registry)].map(([path, gv]) => {
    const digest = createHash('sha256')
      .update(JSON.stringify(openApiDocument(registry, gv)))
      .digest('hex')
    return [
      path,
      { serverRelativeURL: `/openapi/v3/${path}?hash=${digest.slice(0, DIGEST_LENGTH).toUpperCase()}` },
    ]
  })
  return { paths: Object.fromEntries(paths) as JsonObject }
}

/** The document of one group version: what `kubectl explain` and its validation read. */
export function openApiDocument(registry: Registry, gv: GroupVersion): JsonObject {
  const resources = registry.inVersion(gv.group, gv.version)
  const paths: Draft = {}
  for (const resource of resources) addPaths(paths, resource)
  for (const { group, version, plural, kind } of reviewKinds()) {
    if (group === gv.group && version === gv.version) {
      paths[`/${pathOf(gv)}/${plural}`] = { post: operation('post', { group, version, kind }) }
    }
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'v1' },
    paths,
    components: { schemas: schemasOf(resources, gv) },
  }
}

type Gvk = GroupVersion & { readonly kind: string }

const WRITE_PARAMETERS: Json = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}))

function operation(action: string, { group, version, kind }: Gvk): JsonObject {
  const writes = ['post', 'put', 'patch'].includes(action)
  return {
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
    ...(writes ? { parameters: WRITE_PARAMETERS } : {}),
    responses: { 200: { description: 'OK' } },
  }
}

function addPaths(paths: Draft, resource: Resource): void {
  const base = `/${pathOf(resource)}`
  const scope = resource.namespaced ? '/namespaces/{namespace}' : ''
  const collection = `${base}${scope}/${resource.plural}`
  const item = `${collection}/{name}`
  paths[collection] = {
    get: operation('list', resource),
    post: operation('post', resource),
    delete: operation('deletecollection', resource),
  }
  paths[item] = {
    get: operation('get', resource),
    put: operation('put', resource),
    patch: operation('patch', resource),
    delete: operation('delete', resource),
  }
  if (resource.namespaced) paths[`${base}/${resource.plural}`] = { get: operation('list', resource) }
  if (hasStatus(resource)) {
    const verbs = (['get', 'put', 'patch'] as const).map((verb) => [verb, operation(verb, resource)])
    paths[`${item}/status`] = Object.fromEntries(verbs) as JsonObject
  }
}

function schemasOf(resources: readonly Resource[], gv: GroupVersion): JsonObject {
  const schemas: Draft = {}
  const keep = (name: string, schema: Schema | undefined): void => {
    if (!schema || name in schemas) return
    schemas[name] = schema
    for (const next of references(schema)) keep(next, definitions()[next])
  }
  for (const resource of resources) {
    if (isCustom(resource)) {
      keep(customName(resource, resource.kind), resource.compiled.openApi())
      keep(customName(resource, resource.listKind), resource.compiled.openApiList())
    }
  }
  for (const [name, schema] of Object.entries(definitions())) if (isOf(schema, gv)) keep(name, schema)
  return schemas
}

function isCustom(resource: Resource): resource is CustomResource {
  return resource.custom
}

function customName({ group, version }: GroupVersion, kind: string): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

function isOf(schema: Schema, { group, version }: GroupVersion): boolean {
  const kinds = schema['x-kubernetes-group-version-kind']
  return (
    isArray(kinds) &&
    kinds.some((kind) => isObject(kind) && kind['group'] === group && kind['version'] === version)
  )
}

function references(value: Json): readonly string[] {
  if (isArray(value)) return value.flatMap(references)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner.slice(REF.length)] : references(inner),
  )
}
