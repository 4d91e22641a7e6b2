import type { TaskStatus } from '@upgrade-hub/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JobIndex } from './job-index.ts'
import { statusOf } from './task-state.ts'
import { aTask, at, NOW, PREPARED, PREPARING, PROCEEDING, time } from './testing/fixtures.ts'

const STATES: readonly Partial<TaskStatus>[] = [
  {},
  { reason: 'Busy', deadline: time(30) },
  PREPARING,
  { ...PREPARING, reason: 'Unreachable' },
  PREPARED,
  { ...PREPARED, reason: 'Offline' },
  PROCEEDING,
  { phase: 'Successful' },
  { phase: 'Failure', reason: 'RollbackFailed', outcome: 'RollbackFailed' },
  { phase: 'Failure', reason: 'HealthFailed', outcome: 'RolledBack' },
  { phase: 'Failure', reason: 'NotFound', outcome: 'RefusedBeforeChange' },
  { phase: 'Unknown', reason: 'TimedOut', edge: { attempt: 1, seq: 1, late: [{ attempt: 1 }] } },
  { phase: 'Skipped', reason: 'AlreadyAtVersion' },
  { phase: 'Skipped', reason: 'Stopped' },
  { phase: 'Cancelled', reason: 'Cancelled' },
]
const task = (index: number, status: Partial<TaskStatus>) => aTask(status, undefined, `n${index}`, index)

describe('the index of a job', () => {
  it('says the same whatever the way to the state was', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.option(fc.constantFrom(...STATES))), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(steps, (all) => {
        const index = new JobIndex()
        const last = new Map<number, Partial<TaskStatus>>()
        for (const [node, status] of all) {
          if (status) index.upsert(task(node, status), NOW)
          else index.remove(task(node, {}).metadata.name)
          if (status) last.set(node, status)
          else last.delete(node)
        }
        const fresh = new JobIndex()
        for (const [node, status] of last) fresh.upsert(task(node, status), NOW)
        expect(index.counts).toEqual(fresh.counts)
        expect(index.rows(100)).toEqual(fresh.rows(100))
        for (const state of [
          'waiting',
          'resting',
          'preparing',
          'unreachable',
          'prepared',
          'proceeding',
          'ended',
        ] as const) {
          expect([...index.in(state)]).toEqual([...fresh.in(state)])
        }
      }),
    )
  })

  it('counts every task once among pending to skipped', () => {
    const index = new JobIndex()
    for (const [at, status] of STATES.entries()) index.upsert(task(at, status), NOW)
    const { pending, inProgress, successful, failed, unknown, skipped } = index.counts
    expect(pending + inProgress + successful + failed + unknown + skipped).toBe(STATES.length)
    expect(index.counts).toMatchObject({
      pending: 6,
      inProgress: 1,
      successful: 1,
      failed: 3,
      unknown: 1,
      skipped: 3,
      cancelled: 1,
      needless: 1,
      stopped: 1,
      rolledBack: 1,
      offline: 2,
      late: 1,
      counted: 3,
    })
  })

  it('lists first what needs attention: rollback failed, failed, unknown, running, then by name', () => {
    const index = new JobIndex()
    for (const [at, status] of STATES.entries()) index.upsert(task(at, status), NOW)
    const rows = index.rows(6).map((row) => `${statusOf(row).phase} ${statusOf(row).reason ?? ''}`)
    expect(rows).toEqual([
      'Failure RollbackFailed',
      'Failure NotFound',
      'Failure HealthFailed',
      'Unknown TimedOut',
      'InProgress ',
      'Pending ',
    ])
  })

  it('lists the longest running first', () => {
    const index = new JobIndex()
    index.upsert(task(1, { ...PROCEEDING, hold: time(20) }), NOW)
    index.upsert(task(2, { ...PROCEEDING, hold: time(10) }), NOW)
    expect(index.rows(2).map((row) => row.spec.nodeName)).toEqual(['n2', 'n1'])
  })

  it('moves a resting task on when its time has come', () => {
    const index = new JobIndex()
    const resting = task(1, { reason: 'Busy', deadline: time(30) })
    index.upsert(resting, at(29))
    expect(index.get(resting.metadata.name)?.state).toBe('resting')
    index.upsert(resting, at(30))
    expect(index.get(resting.metadata.name)?.state).toBe('waiting')
  })

  it('counts no task that came after the plan', () => {
    const index = new JobIndex()
    index.upsert(aTask({ phase: 'Skipped', reason: 'NotPlanned' }), at(0))
    expect(index.counts).toMatchObject({ skipped: 0, pending: 0, held: 1 })
  })
})
