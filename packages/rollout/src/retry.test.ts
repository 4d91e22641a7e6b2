import type { NodeUpgradeJob, TaskStatus } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { decideTask } from './decide-task.ts'
import type { TaskDecision } from './decisions.ts'
import {
  aJob,
  aNode,
  aTask,
  at,
  aView,
  condition,
  held,
  PREPARED,
  PROCEEDING,
  reported,
  time,
} from './testing/fixtures.ts'

const retry = (limit: number, more: Partial<NodeUpgradeJob> = {}) =>
  aJob({ upgradeHub: { retry: { limit, backoffSeconds: 30 } } }, more)
const FAILED = { attempt: 1, outcome: 'RolledBack', reason: 'HealthFailed', time: time(1) }

function decide(job: NodeUpgradeJob, status: Partial<TaskStatus>, now = at(60)): TaskDecision {
  return decideTask(aView({ job, task: aTask(status, job), now }))
}
const statusIn = ({ write }: TaskDecision) => (write?.target === 'status' ? write.status : undefined)

describe('a failed attempt is tried again', () => {
  it('as often as the job says, each after a longer pause, and the first node is let go of before', () => {
    const job = retry(2)
    const task = aTask(reported('RolledBack', 'HealthFailed'), job)
    const restore = decideTask(aView({ job, task, node: held(task), now: at(60) }))
    expect(restore.write?.target).toBe('node')
    const first = decide(job, reported('RolledBack', 'HealthFailed'))
    expect(statusIn(first)).toMatchObject({
      phase: 'Pending',
      active: 'false',
      attempt: 2,
      deadline: time(90),
      reason: 'HealthFailed',
      attempts: [{ attempt: 1, outcome: 'RolledBack' }],
    })
    expect(first.events?.[0]).toMatchObject({ reason: 'NodeRetried' })
    const second = { ...PROCEEDING, attempt: 2, attempts: [FAILED] }
    const results = [{ attempt: 2, outcome: 'RolledBack', code: 'HealthFailed' }]
    expect(statusIn(decide(job, { ...second, edge: { attempt: 2, seq: 9, results } }))).toMatchObject({
      attempt: 3,
      deadline: time(120),
    })
    const third = { ...PROCEEDING, attempt: 3, attempts: [FAILED, { ...FAILED, attempt: 2 }] }
    const last = [{ attempt: 3, outcome: 'RolledBack', code: 'HealthFailed' }]
    expect(statusIn(decide(job, { ...third, edge: { attempt: 3, seq: 9, results: last } }))).toMatchObject({
      phase: 'Failure',
      outcome: 'RolledBack',
    })
  })

  it('waits its pause, then waits for its turn like any other', () => {
    const resting = { attempt: 2, attempts: [FAILED], deadline: time(90), reason: 'HealthFailed' }
    expect(decide(retry(1), resting)).toEqual({ wakeAt: at(90) })
    const view = aView({ job: retry(1), task: aTask(resting), mayPrepare: true, now: at(90) })
    expect(decideTask(view).write).toMatchObject({ status: { stage: 'Prepare', attempt: 2, active: 'true' } })
  })

  it.each([
    ['is not asked for', aJob(), 'HealthFailed', 'RolledBack'],
    ['could not be rolled back', retry(3), 'RollbackFailed', 'RollbackFailed'],
    ['found another image', retry(3), 'DigestMismatch', 'FailedBeforeChange'],
    ['was refused by the node', retry(3), 'PolicyRefused', 'RefusedBeforeChange'],
    ['belongs to a cancelled job', retry(3, { control: { cancelled: true } }), 'HealthFailed', 'RolledBack'],
    [
      'belongs to a stopped job',
      retry(3, {
        status: {
          conditions: [
            condition('Accepted', 'True', 'Accepted'),
            condition('Progressing', 'False', 'ThresholdBreached'),
          ],
        },
      }),
      'HealthFailed',
      'RolledBack',
    ],
  ])('but not one that %s', (_, job, code, outcome) => {
    expect(statusIn(decide(job, reported(outcome, code)))?.phase).toBe('Failure')
  })

  it('but not one whose end is not known: two attempts never run on one node', () => {
    expect(statusIn(decide(retry(3), PROCEEDING, at(800)))?.phase).toBe('Unknown')
  })
})

describe('an end that was not known', () => {
  it('is told when it is, and is no reason for another attempt: the job may end at any moment', () => {
    const unknown = {
      ...reported('RolledBack', 'HealthFailed'),
      phase: 'Unknown' as const,
      completionTime: time(50),
    }
    expect(statusIn(decide(retry(3), unknown))).toMatchObject({ phase: 'Failure', reason: 'HealthFailed' })
  })
})

describe('a node that failed and never got its next turn', () => {
  it.each([
    [
      'stopped',
      {
        status: {
          conditions: [
            condition('Accepted', 'True', 'Accepted'),
            condition('Progressing', 'False', 'ThresholdBreached'),
          ],
        },
      },
    ],
    ['cancelled', { control: { cancelled: true } }],
  ] as const)('has failed also when the job is %s', (_, more) => {
    const resting = { attempt: 2, attempts: [FAILED], deadline: time(90), reason: 'HealthFailed' }
    expect(statusIn(decide(retry(1, more as Partial<NodeUpgradeJob>), resting))).toMatchObject({
      phase: 'Failure',
      outcome: 'RolledBack',
    })
  })

  it('and is still asked to give up what it prepares', () => {
    const preparing = { ...PREPARED, attempt: 2, attempts: [FAILED], edge: { attempt: 2, seq: 3 } }
    expect(statusIn(decide(retry(1, { control: { cancelled: true } }), preparing))).toMatchObject({
      phase: 'Failure',
      active: 'true',
      intent: { verb: 'cancel' },
    })
  })
})

describe('control.retry', () => {
  const failed: Partial<TaskStatus> = {
    phase: 'Failure',
    outcome: 'RolledBack',
    reason: 'HealthFailed',
    attempt: 1,
    attempts: [FAILED],
  }
  const raised = (to: number, more: Partial<NodeUpgradeJob> = {}) =>
    aJob({}, { control: { retry: to }, ...more })

  it('opens a failed task once for each step', () => {
    expect(statusIn(decide(raised(1), failed))).toMatchObject({
      phase: 'Pending',
      attempt: 2,
      retried: 1,
      outcome: null,
    })
    expect(decide(raised(1), { ...failed, attempt: 2, retried: 1 })).toEqual({})
    expect(statusIn(decide(raised(3), { ...failed, attempt: 2, retried: 1 }))).toMatchObject({ retried: 2 })
  })

  it('also opens one whose rollback failed: a person has looked at it', () => {
    expect(statusIn(decide(raised(1), { ...failed, reason: 'RollbackFailed' }))?.phase).toBe('Pending')
  })

  it.each<[string, Partial<TaskStatus>, Partial<NodeUpgradeJob>]>([
    ['of unknown end', { ...failed, phase: 'Unknown' }, {}],
    ['that was upgraded', { ...failed, phase: 'Successful' }, {}],
    ['that never had an attempt', { ...failed, attempt: 0 }, {}],
    ['with as many attempts as are stored', { ...failed, attempt: 16 }, {}],
    ['of a finished job', failed, { status: { conditions: [condition('Finished', 'True', 'Failed')] } }],
  ])('leaves one alone %s', (_, status, more) => {
    expect(statusIn(decide(raised(1, more), status))).toBeUndefined()
  })

  it('does nothing to another node of the name', () => {
    const view = aView({ job: raised(1), task: aTask(failed), node: aNode({ uid: 'another' }) })
    expect(decideTask(view)).toEqual({})
  })
})
