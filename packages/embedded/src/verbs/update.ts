import { worldOf } from '../api.ts'
import { badRequest, conflict, invalid, notFound } from '../errors.ts'
import { trackFields } from '../fields/managed-fields.ts'
import { type Call, managerOf, nameOf } from '../http/call.ts'
import { type WriteOptions, writeOptions } from '../http/options.ts'
import type { Reply } from '../http/reply.ts'
import { assign, equal, type JsonObject, listAt, objectAt } from '../json.ts'
import { domainCauses, validateMeta, validateMetaUpdate } from '../meta-validation.ts'
import { invalidValue } from '../names.ts'
import { type KubeObject, keyOf, withFields, withMeta, withMetaOf } from '../objects.ts'
import { hasStatus, type Resource, type Subresource } from '../registry/resource.ts'
import { isReleased } from '../removal.ts'
import { checkSize } from './create.ts'
import { readObject } from './read-object.ts'

const MAX_TRIES = 5

/** PUT of an object, its status, or the finalizers of a namespace. */
export async function update(call: Call): Promise<Reply> {
  const options = writeOptions(call.query, 'UpdateOptions')
  const sent = await readObject(call, options.fieldValidation)
  const object = await updateObject(call, (current) => replacing(call, sent, current), options)
  return { status: 200, object }
}

function replacing(call: Call, sent: KubeObject, current: KubeObject): KubeObject {
  const { resource } = call
  checkName(call, sent)
  const { uid, resourceVersion } = sent.metadata
  const name = nameOf(call)
  if (!resourceVersion && !resource.strategy.unconditionalUpdate) {
    const cause = invalidValue('metadata.resourceVersion', 0, 'must be specified for an update')
    throw invalid(resource, name, [cause], resource.plural)
  }
  if (resourceVersion && resourceVersion !== current.metadata.resourceVersion) throw conflict(resource, name)
  if (uid && uid !== current.metadata.uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`,
    )
  }
  return sent
}

/**
 * Reads, changes and writes an object as one step: when another write came in between, all is done anew. `change` gets
 * the stored object in the version of the request and may throw. Answers what is then stored.
 */
export async function updateObject(
  call: Call,
  change: (current: KubeObject) => KubeObject,
  options: WriteOptions,
): Promise<KubeObject> {
  const { api, resource } = call
  const key = keyOf(call.namespace, nameOf(call))
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const stored = api.store.get(resource.storage, key)
    if (!stored) throw notFound(resource, nameOf(call))
    const current = resource.fromStorage(stored)
    const next = prepare(call, change(current), current)
    const admitted = await admit(call, next, { current, dryRun: options.dryRun })
    if (api.store.get(resource.storage, key) !== stored) continue
    if (isSame(admitted, current)) {
      await api.store.settled()
      return current
    }
    return options.dryRun ? admitted : replace(call, key, admitted)
  }
  throw conflict(resource, nameOf(call))
}

async function replace(call: Call, key: string, object: KubeObject): Promise<KubeObject> {
  const { store } = call.api
  const { resource } = call
  const next = resource.toStorage(object)
  if (isReleased(resource, object)) {
    store.remove(resource.storage, key, next)
    await store.settled()
    return object
  }
  checkSize(next)
  const written = store.put(resource.storage, key, next)
  await store.settled()
  return resource.fromStorage(written)
}

async function admit(
  call: Call,
  next: KubeObject,
  { current, dryRun }: { readonly current: KubeObject; readonly dryRun: boolean },
): Promise<KubeObject> {
  const { resource } = call
  const attributes = { call, operation: 'UPDATE' as const, object: next, oldObject: current, dryRun }
  const mutated = await call.api.admission.mutate(attributes)
  const object = finish(resource, mutated, current)
  const subresource = call.subresource as Subresource | undefined
  const causes = [
    ...validateMeta(object.metadata, () => []),
    ...(resource.custom ? [] : domainCauses(object.metadata)),
    ...validateMetaUpdate(object, current),
    // kube-apiserver looks at the metadata of custom resources twice, and says so twice.
    ...(resource.custom ? validateMetaUpdate(object, current) : []),
    ...(resource.strategy.validate?.(object, current, subresource) ?? []),
  ]
  if (causes.length > 0) throw invalid(resource.invalidAs ?? resource, nameOf(call), causes)
  await call.api.admission.validate({ ...attributes, object })
  return object
}

function checkName(call: Call, sent: KubeObject): void {
  if (sent.metadata.name !== nameOf(call)) {
    throw badRequest(
      `the name of the object (${sent.metadata.name}) does not match the name on the URL (${nameOf(call)})`,
    )
  }
}

/** The object with the parts that this request may not change as they were. */
function prepare(call: Call, sent: KubeObject, current: KubeObject): KubeObject {
  const { resource, namespace } = call
  checkName(call, sent)
  if (namespace && sent.metadata.namespace && sent.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  const scoped = withinScope(call, sent, current)
  const { metadata } = current
  const kept = withMeta(scoped, {
    namespace,
    uid: scoped.metadata.uid || metadata.uid,
    creationTimestamp: metadata.creationTimestamp,
    deletionTimestamp: metadata.deletionTimestamp,
    deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds,
    generation: metadata.generation,
    resourceVersion: metadata.resourceVersion,
  })
  const writer = {
    manager: managerOf(call),
    subresource: call.subresource ?? '',
    time: worldOf(call.api).now,
  }
  return trackFields(kept, current, resource, writer)
}

function withinScope(call: Call, sent: KubeObject, current: KubeObject): KubeObject {
  const { resource } = call
  switch (call.subresource) {
    case 'status': {
      const status = withFields(current, { status: sent['status'] })
      return resource.custom
        ? withMeta(status, { managedFields: sent.metadata.managedFields })
        : withMetaOf(status, sent)
    }
    case 'finalize': {
      const spec = { ...objectAt(current, 'spec'), finalizers: listAt(sent, 'spec', 'finalizers') }
      return withFields(current, { spec })
    }
    default:
      return hasStatus(resource) ? withFields(sent, { status: current['status'] }) : sent
  }
}

/** After admission: the strategy's own rules, and the generation. */
function finish(resource: Resource, object: KubeObject, current: KubeObject): KubeObject {
  const ready = resource.strategy.onUpdate?.(object, current) ?? object
  if (!resource.strategy.generation) return ready
  const changed = !equal(desired(resource, ready), desired(resource, current))
  const generation = (current.metadata.generation ?? 1) + (changed ? 1 : 0)
  return withMeta(ready, { generation })
}

/** What the generation counts: everything but metadata, and but the status where it has its own path. */
function desired(resource: Resource, object: KubeObject): JsonObject {
  return assign(object, { metadata: undefined, ...(hasStatus(resource) ? { status: undefined } : {}) })
}

/** A write that changes nothing is none: no revision, no event. */
function isSame(object: KubeObject, current: KubeObject): boolean {
  const plain = (o: KubeObject) => withMeta(o, { managedFields: undefined })
  if (!equal(plain(object), plain(current))) return false
  return object.metadata.managedFields !== undefined || current.metadata.managedFields === undefined
}
