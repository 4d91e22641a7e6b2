import type { MaintenanceWindow, NodeUpgradeJob, NodeUpgradeJobStatus } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { decideJob, type JobDecision, type JobView } from './decide-job.ts'
import { decideTask } from './decide-task.ts'
import { JobIndex } from './job-index.ts'
import { aJob, aNode, aTask, at, aView, held, NOW, PREPARED, time } from './testing/fixtures.ts'

/** Open from 01:00 to 02:00; NOW is midnight UTC. */
const NIGHTLY: MaintenanceWindow = { slots: [{ start: '01:00', durationMinutes: 60 }] }
const OPEN = at(3_600)
const CLOSED = at(7_200)

const jobWith = (window: MaintenanceWindow, more: Partial<NodeUpgradeJob> = {}) =>
  aJob({ concurrency: 2, upgradeHub: { window } }, more)

function view(window: MaintenanceWindow, now: number, timeZone?: string): JobView {
  const base = jobWith(window)
  const answer = { ...PREPARED.edge?.answer, ...(timeZone ? { timeZone } : {}) }
  const index = new JobIndex()
  index.upsert(aTask({ ...PREPARED, edge: { attempt: 1, seq: 3, answer } }, base, 'n0', 0), now)
  index.upsert(aTask({}, base, 'n1', 1), now)
  const job = { ...base, status: { startTime: time(0), ...base.status, plan: { total: 2, hash: '' } } }
  const node = (name: string) => aNode({ name, uid: `${name}-uid` })
  return { job, index, node, now, mayPlan: true, complete: true, pace: { flushedAt: 0, releasedAt: 0 } }
}
const statusIn = ({ write }: JobDecision) =>
  (write?.target === 'status' ? write.status : {}) as NodeUpgradeJobStatus
const progressing = (decision: JobDecision) =>
  statusIn(decision).conditions?.find(({ type }) => type === 'Progressing')

describe('a job whose window is closed', () => {
  it('begins nothing, says until when, and is asked again then', () => {
    const decision = decideJob(view(NIGHTLY, NOW))
    expect(progressing(decision)).toMatchObject({
      status: 'False',
      reason: 'WindowClosed',
      message: 'the window is closed until 2026-01-01T01:00:00Z',
    })
    expect(statusIn(decision).releasing).toEqual([])
    expect(decision.prepare).toEqual([])
    expect(decision.wakeAt).toBeLessThanOrEqual(OPEN)
  })

  it('goes on when it opens, and is asked again when it closes', () => {
    const decision = decideJob(view(NIGHTLY, OPEN))
    expect(progressing(decision)?.reason).toBe('Upgrading')
    expect(statusIn(decision).releasing).toHaveLength(1)
    expect(decision.wakeAt).toBeLessThanOrEqual(CLOSED)
  })

  it('is not accepted when it never opens', () => {
    const never = { blackouts: [{ from: '2020-01-01', to: '2099-01-01' }] }
    const job = { ...jobWith(never), status: {} }
    const decision = decideJob({ ...view(NIGHTLY, NOW), job })
    expect(statusIn(decision).conditions?.[0]).toMatchObject({ type: 'Accepted', reason: 'WindowNeverOpens' })
  })
})

describe('a node of a job with a window', () => {
  const job = jobWith(NIGHTLY)
  const task = aTask(PREPARED, job)
  const decide = (now: number, node = aNode()) =>
    decideTask(aView({ job, task, node, now, released: true })).write

  it('is taken only while it is open', () => {
    expect(decide(OPEN)).toMatchObject({ target: 'node' })
    expect(decide(CLOSED)).toBeUndefined()
  })

  it('gets a permission that ends with it', () => {
    const near = decide(CLOSED - 30_000, held(task))
    expect(near).toMatchObject({ status: { intent: { verb: 'proceed', notAfter: time(7_200) } } })
    expect(decide(OPEN, held(task))).toMatchObject({ status: { intent: { notAfter: time(3_720) } } })
  })

  it('is let go of, untouched, when it closed between the taking and the permission', () => {
    expect(decide(CLOSED, held(task))).toMatchObject({
      target: 'node',
      patch: { spec: { unschedulable: null } },
    })
  })
})

describe('a window by the clock of each node', () => {
  const local = { ...NIGHTLY, timeZone: 'NodeLocal' }

  it('lets every node prepare, and each upgrade when its own clock says so', () => {
    const inBerlin = decideJob(view(local, NOW, 'Europe/Berlin'))
    expect(progressing(inBerlin)?.reason).toBe('Upgrading')
    expect(statusIn(inBerlin).releasing).toHaveLength(1)
    const inTokyo = view(local, NOW, 'Asia/Tokyo')
    const decision = decideJob(inTokyo)
    expect(statusIn(decision).releasing).toEqual([])
    expect(decision.prepare).toHaveLength(1)
    const told = { ...inTokyo.job, status: { ...inTokyo.job.status, ...statusIn(decision) } }
    expect(decideJob({ ...inTokyo, job: told, pace: { flushedAt: NOW, releasedAt: 0 } }).wakeAt).toBeDefined()
  })

  it('gives a slot back when the clock of its node closed it first', () => {
    const inTokyo = view(local, NOW, 'Asia/Tokyo')
    const [task = ''] = inTokyo.index.names()
    const job = { ...inTokyo.job, status: { ...inTokyo.job.status, releasing: [{ task, attempt: 1 }] } }
    expect(statusIn(decideJob({ ...inTokyo, job })).releasing).toEqual([])
  })
})
