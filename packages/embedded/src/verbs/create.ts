import { randomInt, randomUUID } from 'node:crypto'
import { worldOf } from '../api.ts'
import { CRD_STORAGE } from '../crd/crd-resource.ts'
import { alreadyExists, badRequest, forbidden, invalid, notFound, StatusError, tooLarge } from '../errors.ts'
import { trackFields } from '../fields/managed-fields.ts'
import { type Call, managerOf } from '../http/call.ts'
import { type WriteOptions, writeOptions } from '../http/options.ts'
import type { Reply } from '../http/reply.ts'
import { domainCauses, domainWarnings, validateMeta } from '../meta-validation.ts'
import { type KubeObject, keyOf, withFields, withMeta } from '../objects.ts'
import { hasStatus, type World } from '../registry/resource.ts'
import { readObject } from './read-object.ts'

const GENERATED_PREFIX_MAX = 58
const GENERATED_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
const GENERATED_LENGTH = 5
const GENERATED_TRIES = 8
/** What etcd takes for one object by default. */
const OBJECT_MAX_BYTES = 1_572_864

/** POST to a collection. */
export async function create(call: Call): Promise<Reply> {
  const options = writeOptions(call.query, 'CreateOptions')
  const sent = await readObject(call, options.fieldValidation)
  return { status: 201, object: await createObject(call, sent, options) }
}

async function createObject(call: Call, sent: KubeObject, options: WriteOptions): Promise<KubeObject> {
  const { api, resource } = call
  const world = worldOf(api)
  checkDefinition(call, sent.metadata.name)
  checkNamespace(call, sent.metadata.name)
  const prepared = prepare(call, sent, world)
  const attributes = {
    call,
    operation: 'CREATE' as const,
    object: prepared,
    oldObject: undefined,
    dryRun: options.dryRun,
  }
  const mutated = await api.admission.mutate(attributes)
  const born = resource.complete(bear(call, mutated, world))
  const object = resource.strategy.onCreate?.(born, world) ?? born
  const causes = [
    ...validateMeta(object.metadata, resource.strategy.nameRule),
    ...(resource.custom ? [] : domainCauses(object.metadata)),
    ...(resource.strategy.validate?.(object, undefined, undefined) ?? []),
  ]
  if (causes.length > 0) throw invalid(resource.invalidAs ?? resource, object.metadata.name, causes)
  if (resource.custom) for (const warning of domainWarnings(object.metadata)) call.warn(warning)
  await api.admission.validate({ ...attributes, object })
  return insert(call, object, options.dryRun)
}

async function insert(call: Call, object: KubeObject, dryRun: boolean): Promise<KubeObject> {
  const { store } = call.api
  const { resource } = call
  const key = keyOf(call.namespace, object.metadata.name)
  if (store.get(resource.storage, key)) throw alreadyExists(resource, object.metadata.name)
  if (dryRun) return object
  const stored = resource.toStorage(object)
  checkSize(stored)
  const written = store.put(resource.storage, key, stored)
  await store.settled()
  return resource.fromStorage(written)
}

export function checkSize(object: KubeObject): void {
  if (JSON.stringify(object).length > OBJECT_MAX_BYTES) throw tooLarge('etcdserver: request is too large')
}

/** Nothing is made of a kind that goes. */
function checkDefinition({ api, resource }: Call, name: string): void {
  if (!resource.custom) return
  const crd = api.store.get(CRD_STORAGE, `${resource.plural}.${resource.group}`)
  if (!crd?.metadata.deletionTimestamp) return
  throw forbidden(resource, name, 'create not allowed while custom resource definition is terminating')
}

/** Nothing is made in a namespace that is not there, or that goes. */
function checkNamespace(call: Call, name: string): void {
  const { namespace, api, resource } = call
  if (namespace === undefined) return
  const found = api.store.get('namespaces', namespace)
  if (!found) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace)
  if (!found.metadata.deletionTimestamp) return
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const error = forbidden(resource, name, why)
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  }
  throw new StatusError(403, 'Forbidden', error.message, { ...error.statusDetails, causes: [cause] })
}

/** The object as admission sees it first: named, without what only the server says, its fields owned. */
function prepare(call: Call, sent: KubeObject, world: World): KubeObject {
  const { resource, namespace } = call
  const { metadata } = sent
  if (namespace && sent.metadata.namespace && sent.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (metadata.resourceVersion)
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created')
  const named = withMeta(withoutStatus(call, sent), {
    name: metadata.name || generateName(call, metadata.generateName ?? ''),
    namespace,
    uid: undefined,
    creationTimestamp: undefined,
    generation: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
  })
  const writer = { manager: managerOf(call), subresource: '', time: world.now }
  return trackFields(named, undefined, resource, writer)
}

function withoutStatus({ resource }: Call, object: KubeObject): KubeObject {
  const keeps = !hasStatus(resource) || resource.strategy.keepsStatusOnCreate
  return keeps ? object : withFields(object, { status: undefined })
}

/** The birth of an object that the mutating webhooks have let through. */
function bear(call: Call, object: KubeObject, { now }: World): KubeObject {
  return withMeta(withoutStatus(call, object), {
    uid: randomUUID(),
    creationTimestamp: now,
    generation: call.resource.strategy.generation ? 1 : undefined,
    resourceVersion: undefined,
  })
}

function generateName(call: Call, prefix: string): string {
  if (!prefix) return ''
  const base = prefix.slice(0, GENERATED_PREFIX_MAX)
  for (let tries = 0; ; tries++) {
    const letters = Array.from(
      { length: GENERATED_LENGTH },
      () => GENERATED_LETTERS[randomInt(GENERATED_LETTERS.length)],
    )
    const name = base + letters.join('')
    const taken = call.api.store.get(call.resource.storage, keyOf(call.namespace, name))
    if (!taken || tries >= GENERATED_TRIES) return name
  }
}
