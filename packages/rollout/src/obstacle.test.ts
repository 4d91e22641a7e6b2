import type { NodeUpgradeJob, TaskStatus, UpgradeHubSpec } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { decideJob, type JobDecision, type JobView } from './decide-job.ts'
import { decideTask } from './decide-task.ts'
import { JobIndex } from './job-index.ts'
import {
  aJob,
  aNode,
  aTask,
  at,
  aView,
  condition,
  PREPARED,
  PREPARING,
  PROCEEDING,
  time,
} from './testing/fixtures.ts'

const FAILED: Partial<TaskStatus> = {
  phase: 'Failure',
  reason: 'HealthFailed',
  outcome: 'RolledBack',
  attempt: 1,
  completionTime: time(50),
}
const DONE: Partial<TaskStatus> = { phase: 'Successful', reason: 'Upgraded', completionTime: time(50) }

function view(
  statuses: readonly Partial<TaskStatus>[],
  upgradeHub: UpgradeHubSpec,
  { now = at(60), ...more }: Partial<NodeUpgradeJob> & { now?: number } = {},
): JobView {
  const base = aJob({ failureTolerate: '0.3', concurrency: 2, upgradeHub }, more)
  const index = new JobIndex()
  statuses.forEach((status, order) => index.upsert(aTask(status, base, `n${order}`, order), now))
  const job = {
    ...base,
    status: { startTime: time(0), ...base.status, plan: { total: statuses.length, hash: '' } },
  }
  const node = (name: string) => aNode({ name, uid: `${name}-uid` })
  return {
    job,
    index,
    node,
    now,
    mayPlan: true,
    complete: true,
    pace: { flushedAt: 0, releasedAt: 0 },
  }
}

function said(decision: JobDecision): Record<string, string> {
  const status = decision.write?.target === 'status' ? decision.write.status : {}
  const conditions = (status.conditions ?? []) as { type: string; status: string; reason: string }[]
  return Object.fromEntries(conditions.map(({ type, status: is, reason }) => [type, `${is} ${reason}`]))
}

const BREACHED = [FAILED, FAILED, PREPARED, {}]

describe('more failures than the job bears', () => {
  it('stop it: nothing further begins, and the reason stays whatever comes later', () => {
    const before = view(BREACHED, {})
    const decision = decideJob(before)
    expect(said(decision)).toMatchObject({
      Progressing: 'False ThresholdBreached',
      Paused: 'False NotPaused',
    })
    expect(decision).toMatchObject({ prepare: [], release: [], events: [{ reason: 'ThresholdBreached' }] })
    const stored = [
      condition('Accepted', 'True', 'Accepted'),
      condition('Progressing', 'False', 'ThresholdBreached'),
    ]
    const later = view([DONE, DONE, PREPARED], {}, { status: { conditions: stored } })
    expect(said(decideJob(later))['Progressing']).toBe('False ThresholdBreached')
  })

  it('only hold it when onFailure is Pause, until a person has done something', () => {
    const pause = { onFailure: 'Pause' } as const
    const decision = decideJob(view(BREACHED, pause))
    expect(said(decision)).toMatchObject({
      Progressing: 'False ThresholdBreached',
      Paused: 'True ThresholdBreached',
    })
    expect(decision).toMatchObject({
      prepare: [],
      release: [],
      events: [{ type: 'Warning', reason: 'ThresholdBreached' }],
    })

    const held = [
      condition('Accepted', 'True', 'Accepted'),
      condition('Progressing', 'False', 'ThresholdBreached'),
      condition('Paused', 'True', 'ThresholdBreached'),
    ]
    const waits = aView({
      job: view(BREACHED, pause, { status: { conditions: held } }).job,
      mayPrepare: true,
    })
    expect(decideTask(waits)).toEqual({})

    const raised = { status: { conditions: held }, control: { failureTolerate: '0.9' } }
    const on = decideJob(view(BREACHED, pause, raised))
    expect(said(on)).toMatchObject({ Progressing: 'True Upgrading', Paused: 'False NotPaused' })
    expect(on.prepare).toHaveLength(1)
    const retried = decideJob(view([FAILED, {}, PREPARED, {}], pause, { status: { conditions: held } }))
    expect(said(retried)['Progressing']).toBe('True Upgrading')
  })

  it('are judged by control.failureTolerate also at the end', () => {
    const control = { failureTolerate: '0.5' }
    expect(said(decideJob(view([FAILED, DONE], {})))['Finished']).toBe('True ThresholdBreached')
    expect(said(decideJob(view([FAILED, DONE], {}, { control })))['Finished']).toBe(
      'True CompletedWithFailures',
    )
  })
})

describe('a job that does not move', () => {
  const deadline = { progressDeadlineSeconds: 600 }
  const stuck = [{ ...PREPARED, startTime: time(100), reason: 'Offline' }, DONE]

  it('is asked again when its deadline is over, counted from what moved last', () => {
    expect(decideJob(view(stuck, deadline)).wakeAt ?? 0).toBeLessThanOrEqual(at(700))
    expect(said(decideJob(view(stuck, deadline, { now: at(699) })))['Progressing']).toBe('True Upgrading')
    const moved = [{ ...PROCEEDING, hold: time(650) }, DONE]
    expect(said(decideJob(view(moved, deadline, { now: at(1_200) })))['Progressing']).toBe('True Upgrading')
  })

  it('stops then, ends what waits, and says so as its end', () => {
    const decision = decideJob(view(stuck, deadline, { now: at(700) }))
    expect(said(decision)['Progressing']).toBe('False ProgressDeadlineExceeded')
    expect(decision.prepare).toEqual([])
    const conditions = [
      condition('Accepted', 'True', 'Accepted'),
      condition('Progressing', 'False', 'ProgressDeadlineExceeded'),
    ]
    const { job } = view(stuck, deadline, { status: { conditions } })
    expect(decideTask(aView({ job, task: aTask(PREPARED, job) })).write).toMatchObject({
      status: { reason: 'Stopped' },
    })
    const stopped = { phase: 'Skipped', reason: 'Stopped' } as const
    expect(said(decideJob(view([stopped, DONE], deadline, { status: { conditions } })))['Finished']).toBe(
      'True ProgressDeadlineExceeded',
    )
  })

  it('only says so when onFailure is Pause, and takes it back when something moves', () => {
    const pause = { ...deadline, onFailure: 'Pause' } as const
    const decision = decideJob(view([...stuck, {}], pause, { now: at(700) }))
    expect(said(decision)).toMatchObject({
      Progressing: 'False ProgressDeadlineExceeded',
      Paused: 'False NotPaused',
    })
    expect(decision.prepare).toHaveLength(1)
    const conditions = [
      condition('Accepted', 'True', 'Accepted'),
      condition('Progressing', 'False', 'ProgressDeadlineExceeded'),
    ]
    const moved = view([{ ...PROCEEDING, hold: time(710) }, DONE], pause, {
      status: { conditions },
      now: at(720),
    })
    expect(said(decideJob(moved))['Progressing']).toBe('True Upgrading')
  })

  it('does not count pauses', () => {
    const conditions = [
      condition('Accepted', 'True', 'Accepted'),
      { ...condition('Progressing', 'True', 'Upgrading'), lastTransitionTime: time(5_000) },
    ]
    const resumed = view(stuck, deadline, { status: { conditions }, now: at(5_500) })
    expect(said(decideJob(resumed))['Progressing']).not.toBe('False ProgressDeadlineExceeded')
    const paused = view(stuck, deadline, { control: { paused: true }, now: at(5_000) })
    expect(said(decideJob(paused))['Progressing']).toBe('False Paused')
  })
})

describe('a job whose nodes wait for people', () => {
  const confirming = { ...PREPARING, edge: { attempt: 1, seq: 3, step: 'E4c' } }
  const waiting = (now: number) => view([confirming, DONE], { progressDeadlineSeconds: 60 }, { now })

  it('says so, and does not count it as standing still', () => {
    expect(said(decideJob(waiting(at(3600))))).toMatchObject({ Progressing: 'False WaitingConfirmation' })
  })
})
