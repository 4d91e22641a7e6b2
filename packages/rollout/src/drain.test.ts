import type { NodeUpgradeJob, TaskStatus } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { decideTask } from './decide-task.ts'
import type { TaskDecision, TaskView } from './decisions.ts'
import { type Pod, podsInTheWay, type SlimPod } from './slim-pod.ts'
import { aJob, aTask, at, aView, held, PREPARED, time } from './testing/fixtures.ts'

const controlled = (kind: string) => [{ kind, controller: true }]
const aPod = (name: string, more: Partial<Pod> = {}): Pod => ({
  ...more,
  metadata: {
    name,
    namespace: 'shop',
    uid: `${name}-uid`,
    ownerReferences: controlled('ReplicaSet'),
    ...more.metadata,
  },
})

describe('pods in the way of a drain', () => {
  it.each<[string, Pod]>([
    ['of a DaemonSet', aPod('a', { metadata: { name: 'a', ownerReferences: controlled('DaemonSet') } })],
    [
      'that mirror a static one',
      aPod('a', { metadata: { name: 'a', annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
    ],
    ['that have succeeded', aPod('a', { status: { phase: 'Succeeded' } })],
    ['that have failed', aPod('a', { status: { phase: 'Failed' } })],
  ])('are not those %s', (_, pod) => {
    expect(podsInTheWay([pod])).toEqual([])
  })

  it('are told apart by who brings them back, what they hold, and whether they go already', () => {
    const data = { spec: { volumes: [{ name: 'tmp', emptyDir: {} }] } }
    const going = { metadata: { name: 'c', deletionTimestamp: time(0) } }
    const lone = { metadata: { name: 'b', ownerReferences: [] } }
    expect(podsInTheWay([aPod('a', data), aPod('b', lone), aPod('c', going)])).toMatchObject([
      { namespace: 'shop', name: 'a', hasData: true, isManaged: true, isGoing: false },
      { name: 'b', hasData: false, isManaged: false },
      { name: 'c', isGoing: true },
    ])
  })
})

describe('a node of a job with isolation Drain', () => {
  const drained = (drain: object = {}, more: Partial<NodeUpgradeJob> = {}) =>
    aJob({ upgradeHub: { isolation: 'Drain', drain } }, more)
  const DRAINING: Partial<TaskStatus> = { ...PREPARED, reason: 'Draining' }

  function decide(
    pods: readonly Pod[] | undefined,
    more: Partial<TaskView> = {},
    status = DRAINING,
  ): TaskDecision {
    const job = more.job ?? drained()
    const task = aTask(status, job)
    const seen: { pods?: readonly SlimPod[] } = pods ? { pods: podsInTheWay(pods) } : {}
    return decideTask(aView({ task, node: held(task), now: at(10), ...seen, ...more, job }))
  }
  const statusIn = ({ write }: TaskDecision) => (write?.target === 'status' ? write.status : undefined)

  it('is cordoned first, and its pods are asked for only then', () => {
    const job = drained()
    const take = decideTask(aView({ job, task: aTask(PREPARED, job), released: true }))
    expect(take.write).toMatchObject({ target: 'node', patch: { spec: { unschedulable: true } } })
    expect(decide(undefined)).toEqual({ needsPods: true })
  })

  it('is not closed for ever when nobody may read its pods', () => {
    expect(decide(undefined, { now: at(650) })).toEqual({ needsPods: true })
    expect(statusIn(decide(undefined, { now: at(660) }))).toMatchObject({
      phase: 'Failure',
      reason: 'DrainTimeout',
    })
  })

  it('says once what it waits for, then evicts, and asks again', () => {
    expect(statusIn(decide([aPod('a')], {}, PREPARED))).toEqual({
      reason: 'Draining',
      message: 'pods are to go from the node: shop/a',
    })
    const going = aPod('b', {
      metadata: {
        name: 'b',
        namespace: 'shop',
        deletionTimestamp: time(0),
        ownerReferences: controlled('Job'),
      },
    })
    const { evict, wakeAt } = decide([aPod('a'), going])
    expect(evict?.map(({ name }) => name)).toEqual(['a'])
    expect(wakeAt).toBe(at(15))
  })

  it('gets its permission when it is empty', () => {
    expect(statusIn(decide([]))).toMatchObject({ intent: { verb: 'proceed' }, reason: null })
  })

  it.each<[string, Partial<Pod>, string]>([
    ['data in an emptyDir', { spec: { volumes: [{ name: 't', emptyDir: {} }] } }, 'emptyDir'],
    ['nobody who brings them back', { metadata: { name: 'a', ownerReferences: [] } }, 'unmanagedPods'],
  ])('is let go of when pods have %s, unless the job says Delete', (_, more, rule) => {
    const pods = [aPod('a', more), aPod('b')]
    const ended = statusIn(decide(pods)) as TaskStatus
    expect(ended).toMatchObject({ phase: 'Failure', reason: 'DrainRefused' })
    expect(decide(undefined, {}, { ...PREPARED, ...ended }).write).toMatchObject({
      target: 'node',
      patch: { spec: { unschedulable: null } },
    })
    expect(decide(pods, { job: drained({ [rule]: 'Delete' }) }).evict).toHaveLength(2)
  })

  it.each([
    ['Fail', { target: 'status', status: { phase: 'Failure', reason: 'DrainTimeout' } }],
    ['Skip', { target: 'status', status: { phase: 'Skipped', reason: 'DrainTimeout' } }],
    ['Proceed', { target: 'status', status: { intent: { verb: 'proceed' } } }],
  ])('that is not empty in time: onTimeout %s', (onTimeout, write) => {
    const job = drained({ timeoutSeconds: 60, onTimeout })
    expect(decide([aPod('a')], { job, now: at(59) }).wakeAt).toBe(at(60))
    expect(decide([aPod('a')], { job, now: at(60) }).write).toMatchObject(write)
  })

  it('is let go of before it is tried again', () => {
    const job = aJob({
      upgradeHub: { isolation: 'Drain', retry: { limit: 1 }, drain: { timeoutSeconds: 5 } },
    })
    const again = statusIn(decide([aPod('a')], { job })) as TaskStatus
    expect(again).toMatchObject({ phase: 'Pending', attempt: 2, reason: 'DrainTimeout' })
    const resting = { ...DRAINING, ...again, stage: undefined } as unknown as TaskStatus
    expect(decide(undefined, { job }, resting).write).toMatchObject({ target: 'node' })
  })

  it('is let go of by a cancel in the middle of it', () => {
    const job = drained({}, { control: { cancelled: true } })
    expect(decide([aPod('a')], { job }).write).toMatchObject({
      target: 'node',
      patch: { spec: { unschedulable: null } },
    })
  })
})
