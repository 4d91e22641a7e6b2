/** The parts of metav1.ObjectMeta that this package and its callers read or write. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly ManagedFields[]
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export interface ManagedFields {
  readonly manager?: string
  readonly operation?: string
  readonly subresource?: string
  readonly time?: string
  readonly fieldsV1?: unknown
}

/** Anything that the API server stores. Objects stay the JSON that was on the wire: unknown fields are kept. */
export interface KubeObject {
  readonly metadata: ObjectMeta
}

/** One page of a list. `continue` is set while more pages follow. */
export interface ListPage<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: T[]
}
