import type { Api } from '../api.ts'
import { decodeTyped } from '../builtin/decode.ts'
import { metaSchema } from '../builtin/definitions.ts'
import {
  badRequest,
  DecodeError,
  forbidden,
  invalidOptions,
  notFound,
  preconditionFailed,
} from '../errors.ts'
import { type Call, nameOf } from '../http/call.ts'
import { dryRunCauses, listOptions } from '../http/options.ts'
import { parsePayload } from '../http/payload.ts'
import type { Reply } from '../http/reply.ts'
import { at, isObject, type JsonObject, stringAt, stringsAt, textOf } from '../json.ts'
import { unsupportedValue } from '../names.ts'
import { type KubeObject, keyOf } from '../objects.ts'
import type { Resource } from '../registry/resource.ts'
import { isReleased, type Propagation, planRemoval, type RemovalOptions } from '../removal.ts'
import type { Cause } from '../schema/index.ts'
import { selectObjects } from './list.ts'

interface DeleteOptions {
  readonly propagation: Propagation | undefined
  readonly gracePeriodSeconds: number | undefined
  readonly dryRun: boolean
  readonly preconditions: { readonly uid: string; readonly resourceVersion: string }
}

const POLICIES = ['Foreground', 'Background', 'Orphan']
const PERMANENT_NAMESPACES = ['default', 'kube-system', 'kube-public']

/** DELETE of one object. */
export async function deleteOne(call: Call): Promise<Reply> {
  const options = await deleteOptions(call)
  const { resource } = call
  const name = nameOf(call)
  const { object, removed } = await deleteObject(call, keyOf(call.namespace, name), options)
  if (!removed || resource.strategy.returnsDeleted)
    return { status: 200, object: resource.fromStorage(object) }
  const { group, plural } = resource
  const details = { name, ...(group ? { group } : {}), kind: plural, uid: object.metadata.uid ?? '' }
  return {
    status: 200,
    plain: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details },
  }
}

/** DELETE of a collection: everything that the selectors select, and the answer is the list of it. */
export async function deleteCollection(call: Call): Promise<Reply> {
  const options = await deleteOptions(call)
  const selected = selectObjects(call, listOptions(call.query))
  const items: KubeObject[] = []
  for (const object of selected) {
    const key = keyOf(object.metadata.namespace, object.metadata.name)
    if (!call.api.store.get(call.resource.storage, key)) continue
    items.push(call.resource.fromStorage((await deleteObject(call, key, options)).object))
  }
  return { status: 200, items, metadata: { resourceVersion: String(call.api.store.committed) } }
}

async function deleteObject(
  call: Call,
  key: string,
  options: DeleteOptions,
): Promise<{ object: KubeObject; removed: boolean }> {
  const { api, resource } = call
  const name = key.slice(key.indexOf('/') + 1)
  const stored = api.store.get(resource.storage, key)
  if (!stored) throw notFound(resource, name)
  if (resource.storage === 'namespaces' && PERMANENT_NAMESPACES.includes(name)) {
    throw forbidden(resource, name, 'this namespace may not be deleted')
  }
  checkPreconditions(resource, stored, options)
  const oldObject = resource.fromStorage(stored)
  await api.admission.validate({
    call: { ...call, name },
    operation: 'DELETE',
    object: undefined,
    oldObject,
    dryRun: options.dryRun,
  })
  const current = api.store.get(resource.storage, key)
  if (!current) throw notFound(resource, name)
  checkPreconditions(resource, current, options)
  const { propagation, gracePeriodSeconds } = options
  const removal = {
    now: api.clock.now(),
    ...(propagation ? { propagation } : {}),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  }
  if (options.dryRun) {
    const plan = planRemoval(resource, current, removal)
    return { object: plan.object, removed: plan.action === 'remove' }
  }
  const done = remove(api, resource, { key, object: current }, removal)
  await api.store.settled()
  return done
}

/** Deletes a stored object, or marks it as going; for clients and for the controllers alike. */
export function remove(
  api: Pick<Api, 'store'>,
  resource: Resource,
  { key, object }: { readonly key: string; readonly object: KubeObject },
  options: RemovalOptions,
): { object: KubeObject; removed: boolean } {
  const plan = planRemoval(resource, object, options)
  if (plan.action === 'keep') return { object: plan.object, removed: false }
  if (plan.action === 'remove' || isReleased(resource, plan.object)) {
    return { object: api.store.remove(resource.storage, key, plan.object) ?? plan.object, removed: true }
  }
  return { object: api.store.put(resource.storage, key, plan.object), removed: false }
}

function checkPreconditions(resource: Resource, object: KubeObject, { preconditions }: DeleteOptions): void {
  const { name, uid = '', resourceVersion = '' } = object.metadata
  if (preconditions.uid && preconditions.uid !== uid) {
    const why = `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    throw preconditionFailed(resource, name, why)
  }
  if (preconditions.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`
    throw preconditionFailed(resource, name, why)
  }
}

const OPTIONS = { kind: 'DeleteOptions', definition: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions' }

async function deleteOptions(call: Call): Promise<DeleteOptions> {
  const body = await call.body()
  if (body.length === 0) return parseDeleteOptions({}, call.query)
  const { value } = parsePayload(body, call.headers['content-type'], OPTIONS)
  return parseDeleteOptions(isObject(value) ? value : {}, call.query)
}

/** Options of a delete: the body wins, the query says what a body-less client wants. Throws 422. */
export function parseDeleteOptions(sent: JsonObject, query: URLSearchParams): DeleteOptions {
  const body = typedOptions(sent)
  const dryRun = [...stringsAt(body, 'dryRun'), ...query.getAll('dryRun')]
  const orphan = at(body, 'orphanDependents') ?? query.get('orphanDependents')
  const legacy =
    orphan === null || orphan === undefined ? '' : textOf(orphan) === 'true' ? 'Orphan' : 'Background'
  const policy = stringAt(body, 'propagationPolicy') || query.get('propagationPolicy') || legacy
  const grace = at(body, 'gracePeriodSeconds') ?? numberOf(query.get('gracePeriodSeconds'))
  const causes: Cause[] = [
    ...dryRunCauses(dryRun),
    ...(policy === '' || POLICIES.includes(policy)
      ? []
      : [unsupportedValue('propagationPolicy', JSON.stringify(policy), [...POLICIES, 'nil'])]),
  ]
  if (causes.length > 0) throw invalidOptions('DeleteOptions', causes)
  return {
    propagation: (policy || undefined) as Propagation | undefined,
    gracePeriodSeconds: typeof grace === 'number' ? Math.max(0, grace) : undefined,
    dryRun: dryRun.length > 0,
    preconditions: {
      uid: stringAt(body, 'preconditions', 'uid'),
      resourceVersion: stringAt(body, 'preconditions', 'resourceVersion'),
    },
  }
}

function typedOptions(sent: JsonObject): JsonObject {
  try {
    return decodeTyped(sent, metaSchema('DeleteOptions')).object
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message)
    throw error
  }
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}
