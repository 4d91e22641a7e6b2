import type { JsonObject } from '../json.ts'
import { apiVersionOf } from '../objects.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource, Subresource } from '../registry/resource.ts'
import { type ReviewKind, reviewKinds } from '../verbs/reviews.ts'

const SUBRESOURCE_VERBS: Readonly<Record<Subresource, readonly string[]>> = {
  status: ['get', 'patch', 'update'],
  eviction: ['create'],
  finalize: ['update'],
}

interface ResourceEntry {
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  readonly kind: string
  readonly verbs: readonly string[]
  readonly group?: string
  readonly version?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** GET /api */
export function coreVersions(address: string): JsonObject {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }]
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs }
}

/** The groups but the core one, with their versions in the order of preference. */
export function groupVersions(registry: Registry): ReadonlyMap<string, readonly string[]> {
  const groups = new Map(registry.groups())
  for (const { group, version } of reviewKinds()) groups.set(group, groups.get(group) ?? [version])
  return groups
}

/** GET /apis/{group}; undefined when there is none. */
export function apiGroup(registry: Registry, name: string): JsonObject | undefined {
  const versions = groupVersions(registry).get(name)
  return versions && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(name, versions) }
}

function groupEntry(name: string, names: readonly string[]): JsonObject {
  const versions = names.map((version) => ({ groupVersion: apiVersionOf(name, version), version }))
  return { name, versions, preferredVersion: versions[0] ?? {} }
}

/** GET /apis */
export function apiGroups(registry: Registry): JsonObject {
  const groups = [...groupVersions(registry)].map(([name, versions]) => groupEntry(name, versions))
  return { kind: 'APIGroupList', apiVersion: 'v1', groups }
}

/** GET /api/v1 and /apis/{group}/{version}; undefined when there is none. */
export function apiResources(registry: Registry, group: string, version: string): JsonObject | undefined {
  const resources = [
    ...registry.inVersion(group, version).flatMap(resourceEntries),
    ...reviewsIn(group, version).map(reviewEntry),
  ]
  if (resources.length === 0) return undefined
  const list = {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(group, version),
    resources,
  }
  return list as unknown as JsonObject
}

function reviewsIn(group: string, version: string): readonly ReviewKind[] {
  return reviewKinds().filter((kind) => kind.group === group && kind.version === version)
}

function reviewEntry({ plural, kind }: ReviewKind): ResourceEntry {
  return { name: plural, singularName: kind.toLowerCase(), namespaced: false, kind, verbs: ['create'] }
}

function resourceEntries(resource: Resource): readonly ResourceEntry[] {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories } = resource
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
  }
  const parts = resource.subresources.map((name) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...(name === 'eviction' ? { group: 'policy', version: 'v1', kind: 'Eviction' } : { kind }),
    verbs: SUBRESOURCE_VERBS[name],
  }))
  return [main, ...parts]
}

/** The aggregated document of /api or /apis: everything in one answer (apidiscovery.k8s.io). */
export function aggregated(registry: Registry, root: 'api' | 'apis', apiVersion: string): JsonObject {
  const groups = root === 'api' ? new Map([['', ['v1']]]) : groupVersions(registry)
  const items = [...groups].map(([name, versions]) => ({
    metadata: name ? { name } : {},
    versions: versions.map((version) => ({
      version,
      resources: [
        ...registry.inVersion(name, version).map(aggregatedResource),
        ...reviewsIn(name, version).map(aggregatedReview),
      ],
      freshness: 'Current',
    })),
  }))
  return { kind: 'APIGroupDiscoveryList', apiVersion, metadata: {}, items } as unknown as JsonObject
}

function aggregatedResource(resource: Resource): object {
  const { group, version, plural, singular, kind, namespaced, verbs, shortNames, categories } = resource
  const subresources = resource.subresources.map((name) => ({
    subresource: name,
    responseKind:
      name === 'eviction' ? { group: 'policy', version: 'v1', kind: 'Eviction' } : { group, version, kind },
    verbs: SUBRESOURCE_VERBS[name],
  }))
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  }
}

function aggregatedReview({ group, version, plural, kind }: ReviewKind): object {
  const responseKind = { group, version, kind }
  return {
    resource: plural,
    responseKind,
    scope: 'Cluster',
    singularResource: kind.toLowerCase(),
    verbs: ['create'],
  }
}
