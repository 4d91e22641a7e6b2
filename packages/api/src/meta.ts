/** The parts of ObjectMeta that we read or write. */
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
