import type { NodeUpgradeJob, NodeUpgradeJobStatus, NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { decideJob, type JobDecision, type JobView } from './decide-job.ts'
import { decideTask } from './decide-task.ts'
import { JobIndex } from './job-index.ts'
import { tasksBack } from './roll-back.ts'
import { rollBackTask } from './task-object.ts'
import { aJob, aNode, aTask, at, aView, condition, PREPARED, reported, time } from './testing/fixtures.ts'

const DONE: Partial<TaskStatus> = {
  phase: 'Successful',
  reason: 'Upgraded',
  attempt: 1,
  fromVersion: 'v1.11.0',
  toVersion: 'v1.12.0',
  completionTime: time(50),
}
const FAILED: Partial<TaskStatus> = {
  phase: 'Failure',
  reason: 'HealthFailed',
  outcome: 'RolledBack',
  attempt: 1,
  completionTime: time(50),
}
const STOPPED = [
  condition('Accepted', 'True', 'Accepted'),
  condition('Progressing', 'False', 'ThresholdBreached'),
]
const BEGUN = { reason: 'ThresholdBreached', total: 2, hash: '' }

function scene(
  statuses: readonly Partial<TaskStatus>[],
  back: readonly Partial<TaskStatus>[] = [],
  more: Partial<NodeUpgradeJob> = {},
): JobView & { tasks: NodeUpgradeTask[] } {
  const spec = { concurrency: 2, failureTolerate: '0.1', upgradeHub: { onFailure: 'RollBack' as const } }
  const base = aJob(spec, { ...more, status: { startTime: time(0), conditions: STOPPED, ...more.status } })
  const [index, backIndex] = [new JobIndex(), new JobIndex()]
  const tasks = statuses.map((status, order) => aTask(status, base, `n${order}`, order))
  for (const task of tasks) index.upsert(task, at(60))
  back.forEach((status, order) => {
    const task = rollBackTask(base, tasks[order] as NodeUpgradeTask, undefined)
    backIndex.upsert({ ...task, status: { phase: 'Pending', ...status } }, at(60))
  })
  const job = { ...base, status: { ...base.status, plan: { total: statuses.length, hash: '' } } }
  const node = (name: string) => aNode({ name, uid: `${name}-uid` })
  return {
    job,
    index,
    back: backIndex,
    tasks,
    node,
    now: at(60),
    mayPlan: true,
    complete: true,
    pace: { flushedAt: 0, releasedAt: 0 },
  }
}
const statusIn = ({ write }: JobDecision) =>
  (write?.target === 'status' ? write.status : {}) as NodeUpgradeJobStatus
const said = (decision: JobDecision, type: string) =>
  statusIn(decision).conditions?.find((one) => one.type === type)?.reason

describe('a job that goes back after a breach', () => {
  it('first lets what runs come to its end', () => {
    const decision = decideJob(scene([DONE, FAILED, PREPARED]))
    expect(decision.write).toMatchObject({ target: 'status' })
    expect(decision.prepare).toEqual([])
  })

  it('then plans the way back of the nodes that were upgraded', () => {
    expect(decideJob(scene([DONE, DONE, FAILED])).write).toEqual({
      target: 'rollback',
      reason: 'ThresholdBreached',
    })
  })

  it('has nothing to take back when no node was upgraded, or when it is cancelled', () => {
    expect(said(decideJob(scene([FAILED])), 'Finished')).toBe('ThresholdBreached')
    const cancelled = scene([DONE, FAILED], [], { control: { cancelled: true } })
    expect(said(decideJob(cancelled), 'Finished')).toBe('ThresholdBreached')
  })

  it('sends the nodes back with the same budget, and says how far it is', () => {
    const view = scene([DONE, DONE, DONE, FAILED], [{}, {}, {}], {
      status: { rollback: { ...BEGUN, total: 3 } },
    })
    const decision = decideJob(view)
    expect(said(decision, 'Progressing')).toBe('RollingBack')
    expect(decision.prepare).toHaveLength(2)
    expect(decision.prepare?.every((name) => view.back?.get(name))).toBe(true)
  })

  it('ends as RolledBack when all are back, and its numbers and rows say what runs', () => {
    const view = scene([DONE, DONE, FAILED], [DONE, DONE], { status: { rollback: BEGUN } })
    const decision = decideJob(view)
    expect(said(decision, 'Finished')).toBe('RolledBack')
    expect(statusIn(decision)).toMatchObject({
      phase: 'Failure',
      reason: '2 of 2 upgraded nodes run their old version again',
      summary: { total: 3, successful: 0, failed: 3, rolledBack: 3 },
      rollback: { total: 2, successful: 2, failed: 0 },
    })
    expect(statusIn(decision).nodeStatus?.find(({ nodeName }) => nodeName === 'n0')).toMatchObject({
      phase: 'Failure',
      outcome: 'RolledBack',
      currentVersion: 'v1.11.0',
    })
    expect(statusIn(decision).status?.find(({ nodeName }) => nodeName === 'n0')?.history?.result).toBe(
      'upgrade_failed_rollback_success',
    )
  })

  it('says why it stopped when not all came back', () => {
    const view = scene([DONE, DONE, FAILED], [DONE, FAILED], { status: { rollback: BEGUN } })
    const decision = decideJob(view)
    expect(said(decision, 'Finished')).toBe('ThresholdBreached')
    expect(statusIn(decision)).toMatchObject({
      reason: '1 of 2 upgraded nodes run their old version again',
      summary: { successful: 1 },
    })
  })

  it('is not whole while the end of a node is unknown, or when one turned out to be upgraded after all', () => {
    const ended = (...statuses: Partial<TaskStatus>[]) =>
      said(decideJob(scene(statuses, [DONE, DONE], { status: { rollback: BEGUN } })), 'Finished')
    expect(ended(DONE, DONE, { phase: 'Unknown', reason: 'TimedOut' })).toBe('ThresholdBreached')
    expect(ended(DONE, DONE, DONE)).toBe('ThresholdBreached')
  })

  it('takes back what it has changed, and nothing that somebody has put there since', () => {
    const { job, index } = scene([DONE, { ...DONE, fromVersion: 'v1.12.0' }, DONE, DONE, FAILED])
    const runs: Record<string, string> = { n0: 'v1.12.0', n1: 'v1.12.0', n2: 'v1.13.0', n3: 'v1.11.0' }
    const node = (name: string) =>
      aNode({ name, uid: `${name}-uid`, version: `v1.28.6-kubeedge-${runs[name]}` })
    expect(
      tasksBack({ job, index, node }).map(({ spec }) => [spec.nodeName, spec.verdict, spec.reason]),
    ).toEqual([
      ['n0', 'Run', undefined],
      ['n2', 'Refused', 'ChangedSince'],
      ['n3', 'Run', undefined],
    ])
  })

  it('says when nodes that are down leave no room for another', () => {
    const view = scene([DONE, DONE, FAILED], [{ ...PREPARED }, { ...FAILED }], {
      status: { rollback: BEGUN },
    })
    const upgradeHub = { ...view.job.spec?.upgradeHub, maxUnavailable: 1 }
    const job = { ...view.job, spec: { ...view.job.spec, upgradeHub } }
    view.back?.observe('n1', aNode({ name: 'n1', uid: 'n1-uid', ready: false }))
    expect(said(decideJob({ ...view, job }), 'Progressing')).toBe('TooManyUnavailable')
  })

  it('can be paused and cancelled on its way', () => {
    const on = (control: object) =>
      decideJob(scene([DONE, FAILED], [{}], { status: { rollback: BEGUN }, control }))
    expect(on({ paused: true })).toMatchObject({ prepare: [] })
    expect(said(on({ paused: true }), 'Progressing')).toBe('Paused')
    expect(said(on({ cancelled: true }), 'Progressing')).toBe('Cancelling')
  })
})

describe('the task that takes an upgrade back', () => {
  const { job, tasks } = scene([DONE], [{}], { status: { rollback: BEGUN } })
  const task = rollBackTask(job, tasks[0] as NodeUpgradeTask, undefined)

  it('brings the version that ran before, and pulls nothing', () => {
    expect(task.spec).toMatchObject({
      purpose: 'RollBack',
      rollbackOf: tasks[0]?.metadata.name,
      version: 'v1.11.0',
      image: '',
      verdict: 'Run',
    })
    expect(task.metadata.name).not.toBe(tasks[0]?.metadata.name)
  })

  it('is refused where nobody knows what ran before', () => {
    const { fromVersion: _, ...unknown } = DONE
    expect(rollBackTask(job, aTask(unknown, job), undefined).spec).toMatchObject({
      verdict: 'Refused',
      reason: 'NoBackup',
    })
  })

  it('is not ended by what stopped the job, but by a cancel', () => {
    const pending = { ...task, status: { phase: 'Pending' as const } }
    const prepare = decideTask(
      aView({ job, task: pending, node: aNode({ name: 'n0', uid: 'n0-uid' }), mayPrepare: true }),
    )
    expect(prepare.write).toMatchObject({ status: { stage: 'Prepare' } })
    const cancelled = { ...job, control: { cancelled: true } }
    const view = aView({ job: cancelled, task: pending, node: aNode({ name: 'n0', uid: 'n0-uid' }) })
    expect(decideTask(view).write).toMatchObject({ status: { phase: 'Cancelled' } })
  })

  it('tells people that the node went back', () => {
    const done = { ...task, status: { phase: 'InProgress', ...reported('Succeeded') } as TaskStatus }
    const node = aNode({ name: 'n0', uid: 'n0-uid', version: 'v1.28.6-kubeedge-v1.11.0' })
    expect(decideTask(aView({ job, task: done, node })).events?.map(({ reason }) => reason)).toEqual([
      'NodeRolledBack',
      'NodeRolledBack',
    ])
  })
})
