import type {
  JobControl,
  NodeUpgradeJobStatus,
  TaskStatus,
  UpgradeHubSpec,
  Wave,
  WaveStatus,
} from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { decideJob, type JobDecision, type JobView } from './decide-job.ts'
import { JobIndex } from './job-index.ts'
import { jobPlan } from './job-plan.ts'
import { resolveTargets, type Target } from './targets.ts'
import { aJob, aNode, aTask, at, condition, PREPARED, PROCEEDING, time } from './testing/fixtures.ts'

const wave = (name: string, more: Partial<Wave> = {}): Wave => ({ name, ...more })

describe('the waves of a job', () => {
  const names = Array.from({ length: 20 }, (_, at) => `n${String(at).padStart(2, '0')}`)

  function plan(waves: Wave[], odd: (name: string) => object = () => ({})): Target[] {
    const job = aJob({ nodeNames: names, upgradeHub: { waves } })
    const all = names.map((name) => aNode({ name, uid: `${name}-uid`, ...odd(name) }))
    const nodes = { get: (name: string) => all.find((node) => node.name === name), list: () => all }
    return resolveTargets(job, jobPlan(job), nodes)
  }
  const sizes = (targets: readonly Target[]) =>
    targets.reduce<number[]>((counts, target) => {
      counts[target.wave] = (counts[target.wave] ?? 0) + 1
      return counts
    }, [])

  it('have the sizes that are asked for, percentages rounded up, and leave the rest to the last', () => {
    expect(sizes(plan([wave('canary', { size: '1%' }), wave('tenth', { size: '10%' })]))).toEqual([1, 2, 17])
    expect(sizes(plan([wave('five', { size: 5 }), wave('more', { size: '100%' })]))).toEqual([5, 15])
    expect(sizes(plan([wave('all')]))).toEqual([20])
  })

  it('take who matches, of those that no earlier wave took', () => {
    const lab = (name: string) => ({
      labels: { 'node-role.kubernetes.io/edge': '', site: name < 'n05' ? 'lab' : 'shop' },
    })
    const labelSelector = { matchLabels: { site: 'lab' } }
    const targets = plan([wave('one', { size: 1 }), wave('lab', { labelSelector })], lab)
    expect(sizes(targets)).toEqual([1, 4, 15])
    expect(targets.slice(0, 6).map(({ nodeName }) => nodeName)).toEqual([
      'n00',
      'n01',
      'n02',
      'n03',
      'n04',
      'n05',
    ])
  })

  it('count only nodes that are to be upgraded, and order them wave by wave', () => {
    const old = 'v1.28.6-kubeedge-v1.12.0'
    const targets = plan([wave('half', { size: '50%' })], (name) => (name < 'n10' ? { version: old } : {}))
    expect(targets.filter((target) => target.wave === 0)).toHaveLength(5)
    expect(
      targets.filter((target) => target.verdict === 'Refused').every((target) => target.wave === 1),
    ).toBe(true)
    expect(targets.map(({ order }) => order)).toEqual(targets.map((_, order) => order))
  })
})

const DONE: Partial<TaskStatus> = { phase: 'Successful', reason: 'Upgraded', completionTime: time(50) }
const STARTED: WaveStatus = { name: 'canary', state: 'Upgrading', size: 2, startTime: time(0) }

/** Two nodes in `canary`, two in the rest. */
function scene(
  statuses: readonly Partial<TaskStatus>[],
  canary: Partial<Wave>,
  more: {
    control?: JobControl
    status?: NodeUpgradeJobStatus
    now?: number
    upgradeHub?: UpgradeHubSpec
  } = {},
): JobView {
  const { now = at(60), control, status, upgradeHub } = more
  const spec = { concurrency: 4, upgradeHub: { waves: [wave('canary', canary)], ...upgradeHub } }
  const base = aJob(spec, control ? { control } : {})
  const index = new JobIndex()
  statuses.forEach((of, order) => {
    const task = aTask(of, base, `n${order}`, order)
    index.upsert({ ...task, spec: { ...task.spec, wave: order < 2 ? 0 : 1 } }, now)
  })
  const plan = { total: statuses.length, hash: '' }
  const job = { ...base, status: { startTime: time(0), ...base.status, ...status, plan } }
  const node = (name: string) => aNode({ name, uid: `${name}-uid` })
  return { job, index, node, now, mayPlan: true, complete: true, pace: { flushedAt: 0, releasedAt: 0 } }
}

function statusIn({ write }: JobDecision): NodeUpgradeJobStatus {
  return (write?.target === 'status' ? write.status : {}) as NodeUpgradeJobStatus
}
const states = (decision: JobDecision) => statusIn(decision).waves?.map(({ state }) => state)
const progressing = (decision: JobDecision) =>
  statusIn(decision).conditions?.find(({ type }) => type === 'Progressing')?.reason
const prepares = (view: JobView, decision: JobDecision) =>
  decision.prepare?.map((name) => view.index.get(name)?.nodeName)

describe('a wave', () => {
  it('lets no node of a later one begin, whatever room there is', () => {
    const view = scene([{}, {}, {}, {}], {})
    const decision = decideJob(view)
    expect(prepares(view, decision)).toEqual(['n0', 'n1'])
    expect(states(decision)).toEqual(['Upgrading', 'Pending'])
    expect(statusIn(decision)).toMatchObject({
      currentWave: 'canary',
      waves: [{ size: 2, startTime: time(60) }, { size: 2 }],
    })
    expect(decision.events).toMatchObject([{ reason: 'WaveStarted', note: 'wave canary: 2 nodes' }])
  })

  it('is followed by the next when its last node has ended', () => {
    const running = scene([DONE, PROCEEDING, {}, {}], {}, { status: { waves: [STARTED] } })
    expect(prepares(running, decideJob(running))).toEqual([])
    const ended = scene([DONE, DONE, {}, {}], {}, { status: { waves: [STARTED] } })
    const decision = decideJob(ended)
    expect(prepares(ended, decision)).toEqual(['n2', 'n3'])
    expect(states(decision)).toEqual(['Done', 'Upgrading'])
    expect(statusIn(decision).currentWave).toBe('rest')
  })

  it('has its own limit', () => {
    const view = scene([PREPARED, PREPARED, {}, {}], { maxConcurrent: '50%' })
    expect(statusIn(decideJob(view)).releasing).toHaveLength(1)
  })

  it('is watched for its soak, which a restart does not begin again', () => {
    const soak = { soakSeconds: 600 }
    const view = scene([DONE, DONE, {}, {}], soak, { status: { waves: [STARTED] } })
    const decision = decideJob(view)
    expect(states(decision)).toEqual(['Soaking', 'Pending'])
    expect(progressing(decision)).toBe('Soaking')
    expect(decision.prepare).toEqual([])
    const stored = { status: { waves: [{ ...STARTED, state: 'Soaking', completionTime: time(60) }] } }
    expect(
      decideJob(scene([DONE, DONE, {}, {}], soak, { ...stored, now: at(100) })).wakeAt,
    ).toBeLessThanOrEqual(at(660))
    expect(states(decideJob(scene([DONE, DONE, {}, {}], soak, { ...stored, now: at(660) })))).toEqual([
      'Done',
      'Upgrading',
    ])
  })

  it('goes on when a node of it is tried again while it soaks, and soaks anew', () => {
    const stored = { status: { waves: [{ ...STARTED, state: 'Soaking', completionTime: time(60) }] } }
    const decision = decideJob(scene([DONE, {}, {}, {}], { soakSeconds: 600 }, { ...stored, now: at(100) }))
    expect(statusIn(decision).waves?.[0]).toEqual({ ...STARTED, state: 'Upgrading' })
  })

  it('that is done stays so, and its nodes may still be tried again', () => {
    const stored = { status: { waves: [{ ...STARTED, state: 'Done', completionTime: time(60) }] } }
    const view = scene([DONE, {}, {}, {}], {}, stored)
    expect(states(decideJob(view))).toEqual(['Done', 'Upgrading'])
    expect(prepares(view, decideJob(view))).toEqual(['n1', 'n2', 'n3'])
  })

  it('without nodes is done without a word', () => {
    const view = scene([], { approval: 'Required' })
    const base = aTask({}, view.job, 'n9', 0)
    view.index.upsert({ ...base, spec: { ...base.spec, wave: 1 } }, at(60))
    expect(states(decideJob(view))).toEqual(['Done', 'Upgrading'])
    expect(decideJob(view).events).toHaveLength(1)
  })

  it('does not begin while the job is paused', () => {
    const decision = decideJob(scene([{}, {}, {}, {}], {}, { control: { paused: true } }))
    expect(states(decision)).toEqual(['Pending', 'Pending'])
  })

  it('keeps the job open until its soak is over, unless the job is stopped', () => {
    const soak = { soakSeconds: 600, size: '100%' } as const
    const ended = (conditions: ReturnType<typeof condition>[]) =>
      scene([DONE, DONE], soak, {
        status: { waves: [STARTED], conditions: [condition('Accepted', 'True', 'Accepted'), ...conditions] },
      })
    expect(statusIn(decideJob(ended([]))).phase).toBe('InProgress')
    const stopped = decideJob(ended([condition('Progressing', 'False', 'ThresholdBreached')]))
    expect(statusIn(stopped).phase).toBe('Failure')
    expect(states(stopped)?.at(0)).toBe('Done')
  })
})

describe('a wave that needs an approval', () => {
  const required = { approval: 'Required' } as const

  it('waits for it, and says so once', () => {
    const view = scene([{}, {}, {}, {}], required)
    const decision = decideJob(view)
    expect(states(decision)).toEqual(['WaitingForApproval', 'Pending'])
    expect(progressing(decision)).toBe('WaitingForApproval')
    expect(decision).toMatchObject({ prepare: [], events: [{ reason: 'ApprovalRequired' }] })
  })

  it('is opened by one in a name, of just this wave; who and when is recorded', () => {
    const approve = (approvals: JobControl['approvals']) =>
      decideJob(scene([{}, {}, {}, {}], required, { control: { ...(approvals ? { approvals } : {}) } }))
    expect(states(approve([{ wave: 'canary' }]))).toEqual(['WaitingForApproval', 'Pending'])
    expect(states(approve([{ wave: 'rest', by: 'ann' }]))).toEqual(['WaitingForApproval', 'Pending'])
    const decision = approve([{ wave: 'canary', by: 'ann', reason: 'looks good' }])
    expect(statusIn(decision).waves?.[0]).toMatchObject({
      state: 'Upgrading',
      approvedBy: 'ann',
      approvedAt: time(60),
    })
    expect(decision.events).toMatchObject([
      { reason: 'WaveStarted', note: 'wave canary: 2 nodes, approved by ann' },
    ])
  })

  it('does not run the clock of progressDeadlineSeconds', () => {
    const upgradeHub = { waves: [wave('canary', required)], progressDeadlineSeconds: 600 }
    const waiting = scene([{}, {}, {}, {}], required, { now: at(9_000), upgradeHub })
    expect(progressing(decideJob(waiting))).toBe('WaitingForApproval')
  })
})
