import type { NodeUpgradeJob, NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { limitsOf } from './budget.ts'
import { decideJob, type JobView } from './decide-job.ts'
import { decideTask } from './decide-task.ts'
import type { TaskView } from './decisions.ts'
import { JobIndex } from './job-index.ts'
import { jobPlan } from './job-plan.ts'
import { staysCordoned } from './kept.ts'
import type { SlimNode } from './slim-node.ts'
import { planHash } from './task-object.ts'
import { isEnd, statusOf } from './task-state.ts'
import {
  aJob,
  aNode,
  aTask,
  at,
  condition,
  held,
  PREPARED,
  PREPARING,
  PROCEEDING,
  reported,
  time,
} from './testing/fixtures.ts'

/** Thousands of views take a second, on a busy machine more. */
vi.setConfig({ testTimeout: 60_000 })

const OUTCOMES = [
  'Succeeded',
  'RolledBack',
  'RollbackFailed',
  'StateUnreadable',
  'FailedBeforeChange',
  'RefusedBeforeChange',
  'Cancelled',
  'gibberish',
]
const CODES = ['Upgraded', 'HealthFailed', 'Busy', 'PreparedStale', 'PullFailed', 'gibberish', '']
const VALUES = ['prepared', 'refused', 'done', 'tooLate', 'tombstoned', 'stale', 'accepted']
const seconds = fc.integer({ min: 0, max: 2_000 })
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })

/** Any status that could be stored, also such as never should be. */
const anyStatus: fc.Arbitrary<TaskStatus> = fc
  .record({
    phase: fc.constantFrom(
      'Pending',
      'InProgress',
      'Successful',
      'Failure',
      'Unknown',
      'Skipped',
      'Cancelled',
    ),
    active: maybe(fc.constantFrom('true', 'false')),
    stage: maybe(fc.constantFrom('Prepare', 'Proceed', 'Release')),
    attempt: fc.integer({ min: 0, max: 3 }),
    reason: maybe(fc.constantFrom('Busy', 'Unreachable', 'Offline', 'HoldLost', 'TimedOut')),
    seq: fc.integer({ min: 0, max: 3 }),
    verb: fc.constantFrom('prepare', 'proceed', 'cancel'),
    start: seconds,
    deadline: maybe(seconds),
    answer: maybe(
      fc.record({
        seq: fc.integer({ min: 0, max: 3 }),
        value: fc.constantFrom(...VALUES),
        code: fc.constantFrom(...CODES),
      }),
    ),
    result: maybe(
      fc.record({
        attempt: fc.integer({ min: 1, max: 3 }),
        outcome: fc.constantFrom(...OUTCOMES),
        code: fc.constantFrom(...CODES),
      }),
    ),
    edgeAttempt: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ seq, verb, start, deadline, answer, result, edgeAttempt, active, stage, reason, ...rest }) => ({
    ...rest,
    ...(active ? { active } : {}),
    ...(stage ? { stage } : {}),
    ...(reason ? { reason } : {}),
    ...(seq > 0 ? { intent: { seq, verb } } : {}),
    startTime: time(start),
    ...(deadline === undefined ? {} : { deadline: time(deadline) }),
    edge: {
      attempt: edgeAttempt,
      seq: 1,
      ...(answer ? { answer } : {}),
      ...(result ? { results: [result] } : {}),
    },
  })) as fc.Arbitrary<TaskStatus>

/** Mostly such as come about. */
const likelyStatus: fc.Arbitrary<TaskStatus> = fc
  .constantFrom(
    {},
    PREPARING,
    PREPARED,
    PROCEEDING,
    ...OUTCOMES.map((outcome) => reported(outcome, 'HealthFailed')),
    ...OUTCOMES.map((outcome) => reported(outcome, 'Busy', PREPARED)),
    reported('Succeeded', '', { phase: 'Unknown', attempt: 1, active: 'false' }),
  )
  .map((status) => ({ phase: 'Pending', ...status }))

const anyJob: fc.Arbitrary<NodeUpgradeJob> = fc.constantFrom(
  aJob(),
  aJob({}, { control: { paused: true } }),
  aJob({}, { control: { cancelled: true } }),
  aJob(),
  aJob({ upgradeHub: { isolation: 'None', keepCordonedOn: ['Failure', 'Unknown'] } }),
  aJob(
    {},
    {
      status: {
        conditions: [
          condition('Accepted', 'True', 'Accepted'),
          condition('Progressing', 'False', 'ThresholdBreached'),
        ],
      },
    },
  ),
  aJob({}, { metadata: { name: 'job', uid: 'job-uid', deletionTimestamp: time(0) } }),
)

const anyView: fc.Arbitrary<TaskView> = fc
  .record({
    status: fc.oneof(anyStatus, likelyStatus, likelyStatus),
    job: fc.option(anyJob, { nil: undefined }),
    node: fc.constantFrom(
      'gone',
      'new',
      'free',
      'ours',
      'ours cordoned',
      'theirs',
      'away',
      'upgraded',
      'upgraded free',
    ),
    released: fc.boolean(),
    mayPrepare: fc.boolean(),
    seen: maybe(seconds),
    now: seconds,
    deleted: fc.boolean(),
  })
  .map(({ status, job, node, released, mayPrepare, seen, now, deleted }) => {
    const plain = aTask(status)
    const task = deleted ? { ...plain, metadata: { ...plain.metadata, deletionTimestamp: time(1) } } : plain
    return {
      job,
      task,
      node: nodeOf(node, task),
      released,
      mayPrepare,
      planned: true,
      resultSeenAt: seen === undefined ? undefined : at(seen),
      now: at(now),
    }
  })

function nodeOf(kind: string, task: NodeUpgradeTask): SlimNode | undefined {
  const theirs = { task: 'x', taskUID: 'x', epoch: 1, previousUnschedulable: false, takenAt: '' }
  const nodes: Record<string, SlimNode> = {
    new: aNode({ uid: 'new' }),
    free: aNode(),
    ours: held(task),
    'ours cordoned': held(task, {}, true),
    theirs: aNode({ hold: theirs }),
    away: aNode({ ready: false }),
    upgraded: held(task, { version: 'v1.12.0' }),
    'upgraded free': aNode({ version: 'v1.12.0' }),
  }
  return nodes[kind]
}

/** The view after the decision was stored. */
function applied(view: TaskView): TaskView | undefined {
  const { write } = decideTask(view)
  if (!write) return undefined
  if (write.target === 'finalizers') {
    return {
      ...view,
      task: { ...view.task, metadata: { ...view.task.metadata, finalizers: write.finalizers } },
    }
  }
  if (write.target === 'status')
    return { ...view, task: { ...view.task, status: merge(statusOf(view.task), write.status) as TaskStatus } }
  const hold = write.patch.metadata.annotations['upgradehub.io/hold']
  const { hold: _, ...rest } = view.node ?? aNode()
  const unschedulable = write.patch.spec ? write.patch.spec.unschedulable === true : rest.unschedulable
  return {
    ...view,
    node: {
      ...rest,
      unschedulable,
      ...(hold ? { hold: JSON.parse(hold) } : {}),
      epoch: rest.epoch + (hold ? 1 : 0),
    },
  }
}

function merge(into: object, from: object): object {
  const result: Record<string, unknown> = { ...into }
  for (const [key, value] of Object.entries(from) as [string, unknown][]) {
    if (value === null) delete result[key]
    else if (typeof value === 'object' && !Array.isArray(value))
      result[key] = merge((result[key] ?? {}) as object, value as object)
    else result[key] = value
  }
  return result
}

describe('decideTask', () => {
  it('gives the same answer to the same view', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        expect(decideTask(view)).toEqual(decideTask(view))
      }),
    )
  })

  it('comes to rest: applying its own answers ends after a few writes', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        let next: TaskView | undefined = view
        let writes = 0
        for (; next && writes < 10; writes++) next = applied(next)
        expect(writes).toBeLessThan(8)
      }),
      { numRuns: 500 },
    )
  })

  it('never goes back: an end stays, only the unknown turns, attempts and intents only rise', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const before = statusOf(view.task)
        const after = statusOf(applied(view)?.task ?? view.task)
        const turns = isEnd(before.phase) && after.phase !== before.phase
        const isTruth = before.phase === 'Unknown' && ['Successful', 'Failure'].includes(after.phase)
        expect(!turns || isTruth).toBe(true)
        expect(after.attempt ?? 0).toBeGreaterThanOrEqual(before.attempt ?? 0)
        expect(after.intent?.seq ?? 0).toBeGreaterThanOrEqual(before.intent?.seq ?? 0)
        expect(after.edge).toEqual(before.edge)
      }),
      { numRuns: 500 },
    )
  })

  it('takes a node only when it was released, is Ready, ours by UID, held by nobody, and nothing was permitted', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const { write } = decideTask(view)
        const takes =
          write?.target === 'node' && write.patch.metadata.annotations['upgradehub.io/hold'] !== null
        if (!takes) return
        expect(view).toMatchObject({
          released: true,
          node: { ready: true, uid: 'n1-uid' },
          task: { status: { phase: 'Pending' } },
        })
        expect(view.node?.hold).toBeUndefined()
      }),
      { numRuns: 2_000 },
    )
  })

  it('permits the stop of an agent only on a node that bears its own mark', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const { write } = decideTask(view)
        const intent =
          write?.target === 'status' ? (write.status.intent as { verb?: string } | undefined) : undefined
        expect(intent?.verb !== 'proceed' || view.node?.hold?.taskUID === view.task.metadata.uid).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  it('ends a task only when its node is let go of, or is to stay closed', () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const after = applied(view)
        const ends = after && isEnd(statusOf(after.task).phase) && !isEnd(statusOf(view.task).phase)
        const isHeld =
          view.node?.uid === view.task.spec.nodeUID && view.node?.hold?.taskUID === view.task.metadata.uid
        const stays = after && staysCordoned(view.job, statusOf(after.task))
        expect(ends && isHeld && !stays).not.toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('decideJob', () => {
  const anyScene = fc.record({
    statuses: fc.array(anyStatus, { maxLength: 12 }),
    concurrency: fc.integer({ min: 0, max: 4 }),
    prepareAhead: fc.integer({ min: 0, max: 4 }),
    failureTolerate: fc.constantFrom('0', '0.3', '1'),
    releasing: fc.array(fc.integer({ min: 0, max: 11 }), { maxLength: 3 }),
    now: seconds,
  })

  function view({
    statuses,
    releasing,
    now,
    ...spec
  }: typeof anyScene extends fc.Arbitrary<infer T> ? T : never): JobView {
    const { concurrency, prepareAhead, failureTolerate } = spec
    const base = aJob({ concurrency, failureTolerate, upgradeHub: { prepareAhead } })
    const tasks = statuses.map((status, order) => aTask(status, base, `n${order}`, order))
    const index = new JobIndex()
    for (const task of tasks) index.upsert(task, at(now))
    const names = tasks.map((task) => task.metadata.name)
    const entries = [...new Set(releasing)].flatMap((order) => {
      const task = tasks[order]
      return task ? [{ task: task.metadata.name, attempt: task.status?.attempt ?? 0 }] : []
    })
    const job = {
      ...base,
      status: { ...base.status, plan: { total: tasks.length, hash: planHash(names) }, releasing: entries },
    }
    const pace = { flushedAt: 0, releasedAt: 0 }
    return {
      job,
      index,
      node: (name) => aNode({ name, uid: `${name}-uid` }),
      now: at(now),
      mayPlan: true,
      complete: true,
      pace,
    }
  }

  it('gives the same answer to the same view, and none to its own', () => {
    fc.assert(
      fc.property(anyScene, (scene) => {
        const before = view(scene)
        const decision = decideJob(before)
        expect(decideJob(before)).toEqual(decision)
        if (decision.write?.target !== 'status') return
        const job = {
          ...before.job,
          status: { ...before.job.status, ...decision.write.status },
        } as NodeUpgradeJob
        expect(decideJob({ ...before, job }).write).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })

  it('never has more slots in use than the job allows', () => {
    fc.assert(
      fc.property(anyScene, (scene) => {
        const before = view(scene)
        const { write } = decideJob(before)
        const status = (write?.target === 'status' ? write.status : {}) as { releasing?: { task: string }[] }
        const already = before.job.status?.releasing ?? []
        const added = (status.releasing ?? []).filter(
          ({ task }) => !already.some((entry) => entry.task === task),
        )
        if (added.length === 0) return
        const slots = new Set((status.releasing ?? []).map(({ task }) => task))
        for (const { name } of before.index.in('proceeding')) slots.add(name)
        expect(slots.size).toBeLessThanOrEqual(limitsOf(jobPlan(before.job), 100).slots)
      }),
      { numRuns: 1_000 },
    )
  })

  it('counts every node once', () => {
    fc.assert(
      fc.property(anyScene, (scene) => {
        const { write } = decideJob(view(scene))
        const summary =
          write?.target === 'status'
            ? (write.status.summary as Record<string, number> | undefined)
            : undefined
        if (!summary) return
        const parts = ['pending', 'inProgress', 'successful', 'failed', 'unknown', 'skipped']
        expect(parts.reduce((sum, part) => sum + (summary[part] ?? 0), 0)).toBe(summary['total'])
      }),
    )
  })
})

it('the laws look at views of which some take, permit and end', () => {
  const found = new Set<string>()
  for (const view of fc.sample(anyView, { numRuns: 4_000, seed: 1 })) {
    const { write } = decideTask(view)
    if (write?.target === 'node')
      found.add(write.patch.metadata.annotations['upgradehub.io/hold'] === null ? 'restore' : 'take')
    if (write?.target === 'status')
      found.add((write.status.intent as { verb?: string } | undefined)?.verb ?? String(write.status.phase))
  }
  expect([...found]).toEqual(
    expect.arrayContaining([
      'take',
      'restore',
      'prepare',
      'proceed',
      'cancel',
      'Successful',
      'Failure',
      'Unknown',
    ]),
  )
})
