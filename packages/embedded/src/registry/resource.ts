import type { Schema } from '../builtin/definitions.ts'
import type { Subject } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { NameRule } from '../names.ts'
import type { KubeObject } from '../objects.ts'
import type { Cause } from '../schema/index.ts'
import type { Column } from '../table/column.ts'

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'
export type Subresource = 'status' | 'eviction' | 'finalize'

/** What a strategy may know of the rest: the time (RFC 3339) and what is stored. */
export interface World {
  readonly now: string
  objects(storage: string): Iterable<KubeObject>
}

/** How one kind differs from the others when it is written. Objects are in the version of the request. */
export interface Strategy {
  readonly nameRule: NameRule
  /** `metadata.generation` counts the changes of everything but metadata and status. */
  readonly generation: boolean
  /** A PUT without resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted: boolean
  /** A client may create the object together with its status. */
  readonly keepsStatusOnCreate?: boolean
  onCreate?(object: KubeObject, world: World): KubeObject
  onUpdate?(object: KubeObject, old: KubeObject): KubeObject
  validate?(
    object: KubeObject,
    old: KubeObject | undefined,
    subresource: Subresource | undefined,
  ): readonly Cause[]
}

export interface Decoded {
  readonly object: KubeObject
  readonly unknown: readonly string[]
}

/** One served version of a resource: all that the verbs need to know of it. */
export interface Resource {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly Verb[]
  readonly subresources: readonly Subresource[]
  /** The name under which the store keeps its objects: shared by all versions. */
  readonly storage: string
  /** Defined by a CRD: merge patches instead of strategic ones, list items carry their type. */
  readonly custom: boolean
  readonly schema: Schema
  /** The name of the definition of a built-in kind, '' for others. */
  readonly definition: string
  /** An object that nothing was set in: what it has is nobody's. */
  readonly blank: JsonObject
  readonly strategy: Strategy
  readonly columns: readonly Column[]
  /** What a refusal of an invalid object says it is, where that is not the resource. */
  readonly invalidAs?: Subject
  /** A warning for every request to a version that is deprecated. */
  readonly deprecation?: string
  /** Types, prunes and defaults what a client sent. Throws DecodeError. */
  decode(object: JsonObject): Decoded
  /** Fills defaults again, after a part was taken away. */
  complete(object: KubeObject): KubeObject
  toStorage(object: KubeObject): KubeObject
  fromStorage(object: KubeObject): KubeObject
  /** The names that a field selector may use, beside `metadata.name` and `metadata.namespace`. */
  readonly fields: readonly string[]
  fieldsOf(object: KubeObject): Readonly<Record<string, string>>
}

export function groupVersion(resource: Resource): string {
  return resource.group ? `${resource.group}/${resource.version}` : resource.version
}

export function hasStatus(resource: Resource): boolean {
  return resource.subresources.includes('status')
}
