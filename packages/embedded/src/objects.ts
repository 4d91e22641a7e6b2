import { assign, type Json, type JsonObject } from './json.ts'

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** One entry of `metadata.managedFields`; `fieldsV1` is a trie of `f:`, `k:` and `v:` keys. */
export interface ManagedFieldsEntry {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  readonly time: string
  readonly fieldsType: 'FieldsV1'
  readonly fieldsV1: JsonObject
  readonly subresource?: string
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly generateName?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: { readonly [key: string]: string }
  readonly annotations?: { readonly [key: string]: string }
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

/** A decoded Kubernetes object. Shared freely, so never changed in place. */
export type KubeObject = JsonObject & {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

type MetaPatch = { readonly [K in keyof ObjectMeta]?: ObjectMeta[K] | undefined }

/** The object with some metadata fields set, and those whose value is undefined taken out. */
export function withMeta(object: KubeObject, patch: MetaPatch): KubeObject {
  const metadata = assign(object.metadata as unknown as JsonObject, patch as Record<string, Json | undefined>)
  return { ...object, metadata } as unknown as KubeObject
}

/** The object with some top-level fields set, and those whose value is undefined taken out. */
export function withFields(
  object: KubeObject,
  fields: { readonly [key: string]: Json | undefined },
): KubeObject {
  return assign(object, fields) as KubeObject
}

/** The object as of a kind. */
export function withType(object: KubeObject, apiVersion: string, kind: string): KubeObject {
  return { ...object, apiVersion, kind } as KubeObject
}

/** The object with the metadata of another. */
export function withMetaOf(object: KubeObject, other: KubeObject): KubeObject {
  return { ...object, metadata: other.metadata } as KubeObject
}

/** `namespace/name`, or the name alone: the order of a list is the order of these. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name
}

export function apiVersionOf(group: string, version: string): string {
  return group ? `${group}/${version}` : version
}

/** The other way round; the core group is ''. */
export function splitApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}
