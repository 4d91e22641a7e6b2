import {
  forbiddenValue,
  invalidValue,
  labelValue,
  type NameRule,
  qualifiedName,
  requiredValue,
} from './names.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from './objects.ts'
import type { Cause } from './schema/index.ts'

const ANNOTATIONS_MAX_BYTES = 256 * 1024
const STANDARD_FINALIZERS = ['orphan', 'foregroundDeletion', 'kubernetes']

/** Everything wrong with the metadata of an object, as `ValidateObjectMeta` of k8s.io/apimachinery. */
export function validateMeta(meta: ObjectMeta, nameRule: NameRule): readonly Cause[] {
  if (!meta.name) return [requiredValue('metadata.name', 'name or generateName is required')]
  return [
    ...nameRule(meta.name).map((problem) => invalidValue('metadata.name', meta.name, problem)),
    ...labelCauses(meta.labels ?? {}),
    ...annotationCauses(meta.annotations ?? {}),
    ...(meta.ownerReferences ?? []).flatMap(ownerCauses),
    ...controllerCauses(meta.ownerReferences ?? []),
    ...(meta.finalizers ?? []).flatMap(finalizerCauses),
  ]
}

/** What may not change once an object exists. */
export function validateMetaUpdate(object: KubeObject, old: KubeObject): readonly Cause[] {
  const { metadata: next } = object
  const { metadata: before } = old
  const added = (next.finalizers ?? []).filter((f) => !before.finalizers?.includes(f))
  return [
    ...(next.uid === before.uid ? [] : [invalidValue('metadata.uid', next.uid ?? '', 'field is immutable')]),
    ...(before.deletionTimestamp && added.length > 0 ? [newFinalizers(added)] : []),
  ]
}

function newFinalizers(added: readonly string[]): Cause {
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ')
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`
  return forbiddenValue('metadata.finalizers', why)
}

function labelCauses(labels: Readonly<Record<string, string>>): readonly Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedName(key).map((problem) => invalidValue('metadata.labels', key, problem)),
    ...labelValue(value).map((problem) => invalidValue('metadata.labels', value, problem)),
  ])
}

function annotationCauses(annotations: Readonly<Record<string, string>>): readonly Cause[] {
  const entries = Object.entries(annotations)
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  )
  const tooLong: Cause = {
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${ANNOTATIONS_MAX_BYTES} bytes`,
    field: 'metadata.annotations',
  }
  return [
    ...entries.flatMap(([key]) =>
      qualifiedName(key.toLowerCase()).map((problem) => invalidValue('metadata.annotations', key, problem)),
    ),
    ...(bytes > ANNOTATIONS_MAX_BYTES ? [tooLong] : []),
  ]
}

function finalizerCauses(finalizer: string, index: number): readonly Cause[] {
  return qualifiedName(finalizer).map((problem) =>
    invalidValue(`metadata.finalizers[${index}]`, finalizer, problem),
  )
}

function isUndomained(finalizer: string): boolean {
  return !finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer)
}

/** Built-in kinds take no finalizer without a domain. */
export function domainCauses(meta: ObjectMeta): readonly Cause[] {
  return (meta.finalizers ?? []).flatMap((finalizer, i) => {
    if (!isUndomained(finalizer) || qualifiedName(finalizer).length > 0) return []
    const why = 'name is neither a standard finalizer name nor is it fully qualified'
    return [invalidValue(`metadata.finalizers[${i}]`, finalizer, why)]
  })
}

/** Custom resources take it with a warning. */
export function domainWarnings(meta: ObjectMeta): readonly string[] {
  const why =
    'prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers'
  return (meta.finalizers ?? [])
    .filter(isUndomained)
    .map((finalizer) => `metadata.finalizers: ${JSON.stringify(finalizer)}: ${why}`)
}

function ownerCauses(owner: OwnerReference, index: number): readonly Cause[] {
  return (['apiVersion', 'kind', 'name', 'uid'] as const)
    .filter((name) => !owner[name])
    .map((name) => requiredValue(`metadata.ownerReferences[${index}].${name}`, 'must not be empty'))
}

function controllerCauses(owners: readonly OwnerReference[]): readonly Cause[] {
  const controllers = owners.filter((owner) => owner.controller)
  if (controllers.length < 2) return []
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${controllers.map((o) => o.name).join(' and ')}`
  return [invalidValue('metadata.ownerReferences', '', why)]
}
