import { rfc3339 } from '@upgrade-hub/core'
import { badRequest, notFound, StatusError } from '../errors.ts'
import { type Call, nameOf } from '../http/call.ts'
import { writeOptions } from '../http/options.ts'
import { parsePayload } from '../http/payload.ts'
import type { Reply } from '../http/reply.ts'
import { at, isObject, type Json, listAt, objectAt, stringAt, textOf } from '../json.ts'
import { type KubeObject, keyOf, withFields } from '../objects.ts'
import { compileLabelSelector } from '../selectors/label-selector.ts'
import { parseDeleteOptions, remove } from './delete.ts'

const BUDGETS = 'policy/poddisruptionbudgets'

/** POST of a policy/v1 Eviction to a Pod: deletes it unless a PodDisruptionBudget forbids (429). */
export async function evict(call: Call): Promise<Reply> {
  const { api, resource } = call
  const options = writeOptions(call.query, 'CreateOptions')
  const deletion = parseDeleteOptions(objectAt(await readEviction(call), 'deleteOptions'), call.query)
  const key = keyOf(call.namespace, nameOf(call))
  const pod = api.store.get(resource.storage, key)
  if (!pod) throw notFound(resource, nameOf(call))
  const budget = isFree(pod) ? undefined : budgetOf(call, pod)
  if (budget) checkBudget(call, budget)
  if (!options.dryRun && !deletion.dryRun) {
    if (budget) spend(call, budget)
    const { propagation, gracePeriodSeconds } = deletion
    const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }
    remove(
      api,
      resource,
      { key, object: evicted(pod, api) },
      { now: api.clock.now(), ...(propagation ? { propagation } : {}), ...grace },
    )
  }
  await api.store.settled()
  return {
    status: 201,
    plain: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 },
  }
}

const EVICTION = { kind: 'Eviction', definition: 'io.k8s.api.policy.v1.Eviction' }

async function readEviction(call: Call): Promise<Json> {
  const { value } = parsePayload(await call.body(), call.headers['content-type'], EVICTION)
  if (!isObject(value) || (value['kind'] ?? 'Eviction') !== 'Eviction')
    throw badRequest('the body is no Eviction')
  const named = stringAt(value, 'metadata', 'name')
  if (named === '' || named === nameOf(call)) return value
  throw badRequest('name in URL does not match name in Eviction object')
}

/** Says on the Pod why it goes. */
function evicted(pod: KubeObject, { clock }: Call['api']): KubeObject {
  const status = objectAt(pod, 'status')
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: rfc3339(clock.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  }
  const others = listAt(status, 'conditions').filter((c) => stringAt(c, 'type') !== condition.type)
  return withFields(pod, { status: { ...status, conditions: [...others, condition] } })
}

/** A Pod that is not up yet, has ended or already goes costs no budget. */
function isFree(pod: KubeObject): boolean {
  const phase = stringAt(pod, 'status', 'phase')
  return pod.metadata.deletionTimestamp !== undefined || ['Pending', 'Succeeded', 'Failed'].includes(phase)
}

function budgetOf(call: Call, pod: KubeObject): KubeObject | undefined {
  const matching = [...call.api.store.all(BUDGETS).values()].filter(
    (budget) =>
      budget.metadata.namespace === pod.metadata.namespace &&
      at(budget, 'spec', 'selector') !== undefined &&
      compileLabelSelector(at(budget, 'spec', 'selector'))(pod.metadata.labels),
  )
  if (matching.length <= 1) return matching[0]
  const why =
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
  throw new StatusError(500, 'InternalError', why)
}

interface Standing {
  readonly allowed: number
  readonly healthy: number
  readonly desired: number
}

/**
 * How a budget stands: its status where a disruption controller keeps it, else counted now (ready Pods that match,
 * against `minAvailable` or `maxUnavailable` of them).
 */
function standing(call: Call, budget: KubeObject): Standing {
  if (isObserved(budget)) {
    return {
      allowed: Number(at(budget, 'status', 'disruptionsAllowed') ?? 0),
      healthy: Number(at(budget, 'status', 'currentHealthy') ?? 0),
      desired: Number(at(budget, 'status', 'desiredHealthy') ?? 0),
    }
  }
  const matches = compileLabelSelector(at(budget, 'spec', 'selector'))
  const pods = [...call.api.store.all('pods').values()].filter(
    (pod) => pod.metadata.namespace === budget.metadata.namespace && matches(pod.metadata.labels),
  )
  const healthy = pods.filter(isReady).length
  const desired = desiredOf(budget, pods.length)
  return { allowed: Math.max(0, healthy - desired), healthy, desired }
}

function isObserved(budget: KubeObject): boolean {
  return Number(at(budget, 'status', 'observedGeneration') ?? 0) >= (budget.metadata.generation ?? 1)
}

function isReady(pod: KubeObject): boolean {
  const ready = listAt(pod, 'status', 'conditions').find((c) => stringAt(c, 'type') === 'Ready')
  return stringAt(ready, 'status') === 'True' && pod.metadata.deletionTimestamp === undefined
}

function desiredOf(budget: KubeObject, pods: number): number {
  const least = at(budget, 'spec', 'minAvailable')
  if (least !== undefined) return amount(least, pods)
  const most = at(budget, 'spec', 'maxUnavailable')
  return most === undefined ? 0 : Math.max(0, pods - amount(most, pods))
}

/** `2` or `"50%"`, rounded up. */
function amount(value: Json, of: number): number {
  return typeof value === 'number' ? value : Math.ceil((Number.parseFloat(textOf(value)) / 100) * of)
}

function checkBudget(call: Call, budget: KubeObject): void {
  const { allowed, healthy, desired } = standing(call, budget)
  if (allowed > 0) return
  const message = `The disruption budget ${budget.metadata.name} needs ${desired} healthy pods and has ${healthy} currently`
  throw new StatusError(
    429,
    'TooManyRequests',
    "Cannot evict pod as it would violate the pod's disruption budget.",
    {
      causes: [{ reason: 'DisruptionBudget', message }],
    },
  )
}

/** One disruption less is allowed until whoever keeps the status counts again. */
function spend(call: Call, budget: KubeObject): void {
  if (!isObserved(budget)) return
  const status = objectAt(budget, 'status')
  const disruptionsAllowed = Number(status['disruptionsAllowed'] ?? 0) - 1
  const key = keyOf(budget.metadata.namespace, budget.metadata.name)
  call.api.store.put(BUDGETS, key, withFields(budget, { status: { ...status, disruptionsAllowed } }))
}
