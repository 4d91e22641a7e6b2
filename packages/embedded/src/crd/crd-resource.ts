import { builtin } from '../builtin/resource-builder.ts'
import { at, equal, type Json, listAt, objectAt, stringAt, stringsAt } from '../json.ts'
import { type KubeObject, withFields, withMeta } from '../objects.ts'
import type { Resource, World } from '../registry/resource.ts'
import { type Crd, defaultCrd, validateCrd } from '../schema/index.ts'

export const CRD_STORAGE = 'apiextensions.k8s.io/customresourcedefinitions'
/** Keeps a CRD until the last of its objects is gone. */
export const CRD_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io'

export function asCrd(object: KubeObject): Crd {
  return object as unknown as Crd
}

export function isEstablished(crd: KubeObject): boolean {
  return conditionStatus(crd, 'Established') === 'True'
}

function conditionStatus(crd: KubeObject, type: string): string {
  const condition = listAt(crd, 'status', 'conditions').find((c) => stringAt(c, 'type') === type)
  return stringAt(condition, 'status')
}

/** CustomResourceDefinitions: accepted and established in the write that creates them. */
export const CRDS: Resource = builtin({
  group: 'apiextensions.k8s.io',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  definition: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  subresources: ['status'],
  storage: CRD_STORAGE,
  blank: { spec: { names: {} } },
  defaults: (object) => defaultCrd(withVersions(object)) as unknown as KubeObject,
  strategy: {
    generation: true,
    unconditionalUpdate: false,
    returnsDeleted: true,
    onCreate: accept,
    onUpdate: rememberVersions,
    validate: (object, old) => validateCrd(asCrd(object), old && asCrd(old)),
  },
})

/** Makes the parts that the schema engine reads be there, whatever a client left out; validation then says what lacks. */
function withVersions(object: KubeObject): Crd {
  const spec = objectAt(object, 'spec')
  return asCrd(
    withFields(object, {
      spec: {
        ...spec,
        group: stringAt(spec, 'group'),
        scope: stringAt(spec, 'scope'),
        names: { plural: '', kind: '', ...objectAt(spec, 'names') },
        versions: listAt(spec, 'versions'),
      },
    }),
  )
}

function storageVersion(crd: KubeObject): string {
  return stringAt(
    listAt(crd, 'spec', 'versions').find((v) => at(v, 'storage') === true),
    'name',
  )
}

function accept(crd: KubeObject, world: World): KubeObject {
  const why = nameConflict(crd, world)
  const conditions = why
    ? [
        condition('NamesAccepted', 'False', ['NameConflict', why], world.now),
        condition('Established', 'False', ['NotAccepted', 'not all names are accepted'], world.now),
      ]
    : [
        condition('NamesAccepted', 'True', ['NoConflicts', 'no conflicts found'], world.now),
        condition(
          'Established',
          'True',
          ['InitialNamesAccepted', 'the initial names have been accepted'],
          world.now,
        ),
      ]
  const acceptedNames = why ? { plural: '', kind: '' } : objectAt(crd, 'spec', 'names')
  const storedVersions = [storageVersion(crd)]
  return withFields(crd, { status: { conditions, acceptedNames, storedVersions } })
}

function condition(type: string, status: string, why: readonly [string, string], time: string): Json {
  const [reason, message] = why
  return { type, status, lastTransitionTime: time, reason, message }
}

function namesOf(crd: KubeObject): readonly string[] {
  const names = objectAt(crd, 'spec', 'names')
  return [stringAt(names, 'plural'), stringAt(names, 'singular'), ...stringsAt(names, 'shortNames')]
}

function nameConflict(crd: KubeObject, world: World): string | undefined {
  const own = namesOf(crd)
  for (const other of world.objects(CRD_STORAGE)) {
    if (stringAt(other, 'spec', 'group') !== stringAt(crd, 'spec', 'group')) continue
    if (other.metadata.name === crd.metadata.name) continue
    const taken = namesOf(other).find((name) => own.includes(name))
    if (taken) return `${JSON.stringify(taken)} is already in use`
    const kind = stringAt(other, 'spec', 'names', 'kind')
    if (kind === stringAt(crd, 'spec', 'names', 'kind')) return `${JSON.stringify(kind)} is already in use`
  }
  return undefined
}

/** The server keeps count of the versions that objects were ever stored in, and of the names that it serves. */
function rememberVersions(crd: KubeObject, old: KubeObject): KubeObject {
  const stored = stringsAt(crd, 'status', 'storedVersions')
  const version = storageVersion(crd)
  const storedVersions = stored.includes(version) ? stored : [...stored, version]
  const names = objectAt(crd, 'spec', 'names')
  const acceptedNames = isEstablished(old) ? names : objectAt(crd, 'status', 'acceptedNames')
  const status = { ...objectAt(crd, 'status'), storedVersions, acceptedNames }
  return equal(status, crd['status']) ? crd : withFields(crd, { status })
}

/** A CRD under deletion says so, and waits for its objects. */
export function terminating(crd: KubeObject, now: string): KubeObject {
  const why = [
    'InstanceDeletionPending',
    'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  ] as const
  const others = listAt(crd, 'status', 'conditions').filter((c) => stringAt(c, 'type') !== 'Terminating')
  const conditions = [...others, condition('Terminating', 'True', why, now)]
  return withFields(crd, { status: { ...objectAt(crd, 'status'), conditions } })
}

export function withCleanup(crd: KubeObject): KubeObject {
  const finalizers = crd.metadata.finalizers ?? []
  return finalizers.includes(CRD_CLEANUP) ? crd : withMeta(crd, { finalizers: [...finalizers, CRD_CLEANUP] })
}
