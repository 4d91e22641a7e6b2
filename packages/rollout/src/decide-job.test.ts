import type { NodeUpgradeJob, TaskStatus } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { decideJob, type JobDecision, type JobView, notPlanned, planPatch } from './decide-job.ts'
import { JobIndex } from './job-index.ts'
import type { SlimNode } from './slim-node.ts'
import { planHash } from './task-object.ts'
import {
  aJob,
  aNode,
  aTask,
  at,
  condition,
  held,
  NOW,
  PREPARED,
  PREPARING,
  PROCEEDING,
  time,
} from './testing/fixtures.ts'

type Spec = NonNullable<NodeUpgradeJob['spec']>

const ENDED = (phase: TaskStatus['phase'], reason = ''): Partial<TaskStatus> => ({
  phase,
  reason,
  completionTime: time(1),
})
const DONE = ENDED('Successful', 'Upgraded')

/** A planned job with a task for each status, on nodes n0, n1 and so on. */
function scene(
  statuses: readonly Partial<TaskStatus>[],
  spec: Spec = {},
  more: Partial<NodeUpgradeJob> = {},
) {
  const base = aJob({ nodeNames: statuses.map((_, order) => `n${order}`), ...spec }, more)
  const tasks = statuses.map((status, order) => aTask(status, base, `n${order}`, order))
  const plan = { total: tasks.length, hash: planHash(tasks.map((task) => task.metadata.name)) }
  const job = { ...base, status: { ...base.status, plan } }
  const index = new JobIndex()
  for (const task of tasks) index.upsert(task, NOW)
  return { job, index, tasks, names: tasks.map((task) => task.metadata.name) }
}

function decide(of: { job: NodeUpgradeJob; index: JobIndex }, more: Partial<JobView> = {}): JobDecision {
  const node = (name: string): SlimNode => aNode({ name, uid: `${name}-uid` })
  const pace = { flushedAt: 0, releasedAt: 0 }
  return decideJob({ ...of, node, now: NOW, mayPlan: true, complete: false, pace, ...more })
}

function statusIn({ write }: JobDecision): Record<string, unknown> {
  return write?.target === 'status' ? { ...write.status } : {}
}

function conditionsIn(decision: JobDecision): Record<string, string> {
  const conditions = (statusIn(decision)['conditions'] ?? []) as {
    type: string
    status: string
    reason: string
  }[]
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]))
}

describe('whose a job is', () => {
  const fresh = (more: Partial<NodeUpgradeJob>) =>
    aJob({}, { metadata: { name: 'job', uid: 'u', generation: 1 }, status: {}, ...more })
  const empty = (job: NodeUpgradeJob) => ({ job, index: new JobIndex() })
  const past = { phase: 'Completed', nodeStatus: [{ nodeName: 'n1' }] }

  it('begins with our finalizer, then the plan', () => {
    expect(decide(empty(fresh({}))).write).toEqual({
      target: 'finalizers',
      finalizers: ['upgradehub.io/release'],
    })
    expect(decide(empty(aJob({}, { status: {} }))).write).toEqual({ target: 'plan' })
    expect(decide(empty(aJob({}, { status: {} })), { mayPlan: false })).toEqual({})
  })

  it.each<[string, Partial<NodeUpgradeJob>, string]>([
    ['a phase from years ago', { status: past }, 'NotAdopted'],
    [
      'rows of the older kind',
      { status: { status: [{ nodeName: 'n1', state: 'completed' }] } },
      'NotAdopted',
    ],
    [
      'KubeEdge’s finalizer',
      { metadata: { name: 'job', finalizers: ['kubeedge.io/nodeupgradejob-controller'] } },
      'ForeignController',
    ],
    ['nothing but an image', { spec: { image: 'a/b' } }, 'InvalidSpec'],
    ['a version that is none', { spec: { nodeNames: ['a'], version: 'x' } }, 'InvalidSpec'],
    ['no spec at all', { spec: {} }, 'InvalidSpec'],
  ])('%s is never run, and told so once', (_, more, reason) => {
    const job = fresh(more)
    const decision = decide(empty(job))
    expect(conditionsIn(decision)).toEqual({ Accepted: `False ${reason}` })
    expect(statusIn(decision)).not.toHaveProperty('phase')
    const told = { ...job, status: { ...job.status, ...statusIn(decision) } } as NodeUpgradeJob
    expect(decide(empty(told))).toEqual({})
  })

  it('is ours when somebody says so', () => {
    const adopt = { control: { adopt: true } }
    expect(decide(empty(fresh({ status: past, ...adopt }))).write?.target).toBe('finalizers')
    const finalizers = ['kubeedge.io/nodeupgradejob-controller', 'upgradehub.io/release']
    const foreign = aJob({}, { metadata: { name: 'job', finalizers }, ...adopt })
    expect(decide(scene([{}], {}, { ...foreign })).write?.target).toBe('status')
  })

  it('is put aside while KubeEdge’s controller holds it, and goes on after it', () => {
    const finalizers = ['upgradehub.io/release', 'kubeedge.io/nodeupgradejob-controller']
    const foreign = scene([{}], {}, { metadata: { name: 'job', generation: 1, finalizers } })
    const decision = decide(foreign)
    expect(conditionsIn(decision)).toEqual({ Accepted: 'False ForeignController' })
    expect(decision.prepare).toBeUndefined()
    const { Accepted } = { Accepted: condition('Accepted', 'False', 'ForeignController') }
    const back = {
      ...foreign.job,
      metadata: { ...aJob().metadata },
      status: { ...foreign.job.status, phase: 'InProgress', conditions: [Accepted] },
    }
    expect(conditionsIn(decide({ job: back, index: foreign.index }))['Accepted']).toBe('True Accepted')
  })
})

describe('a plan', () => {
  it('is the commit point: total, hash, phase and acceptance in one write', () => {
    const job = aJob({}, { status: {} })
    expect(planPatch(job, ['b', 'a'], at(2))).toMatchObject({
      phase: 'InProgress',
      state: 'upgrading',
      plan: { total: 2, hash: planHash(['a', 'b']) },
      startTime: time(2),
      progress: '0/2',
      conditions: [{ type: 'Accepted', status: 'True' }],
    })
  })

  it('leaves out what was created after it', () => {
    const { job, index, names } = scene([{}, {}])
    expect(notPlanned(job, index)).toEqual(new Set())
    const late = aTask({}, job, 'late', 2)
    index.upsert({ ...late, metadata: { ...late.metadata, creationTimestamp: time(60) } }, NOW)
    expect(notPlanned(job, index)).toEqual(new Set([late.metadata.name]))
    index.remove(names[0] ?? '')
    expect(notPlanned(job, index)).toEqual(new Set())
  })

  it('says nothing of strays that it cannot tell from members', () => {
    const { job, index } = scene([{}])
    index.upsert(aTask({}, job, 'a', 2), NOW)
    const other = { ...job, status: { ...job.status, plan: { total: 1, hash: 'of something else' } } }
    expect(notPlanned(other, index)).toEqual(new Set())
  })
})

describe('a finished job', () => {
  const finished = (control: object = {}) =>
    aJob(
      {},
      {
        control,
        status: {
          observedGeneration: 1,
          completionTime: time(0),
          conditions: [condition('Finished', 'True', 'Completed')],
        },
      },
    )
  const ask = (control: object, now: number, newer = 0) => {
    const view = { ...scene([]), job: finished(control) }
    return decide(view, { now, newer })
  }
  const DAY = 86_400

  it('is kept for 30 days, the newest twenty for ever, which is looked at again', () => {
    expect(ask({}, at(31 * DAY), 19)).toEqual({ wakeAt: at(31 * DAY + 3_600) })
    expect(ask({}, at(29 * DAY), 20)).toEqual({ wakeAt: at(30 * DAY) })
    expect(ask({}, at(30 * DAY), 20).write).toEqual({ target: 'delete' })
  })

  it('goes when its own time is over, which may be said later', () => {
    expect(ask({ ttlSecondsAfterFinished: 60 }, at(59))).toEqual({ wakeAt: at(60) })
    expect(ask({ ttlSecondsAfterFinished: 60 }, at(60)).write).toEqual({ target: 'delete' })
    expect(ask({ ttlSecondsAfterFinished: 99 * DAY }, at(60 * DAY), 50)).toEqual({ wakeAt: at(99 * DAY) })
  })
})

describe('a failed node that control.retry asks to be tried again', () => {
  const failed = { ...ENDED('Failure', 'HealthFailed'), attempt: 1, outcome: 'RolledBack' }
  const isFinal = (decision: JobDecision) => 'True' === conditionsIn(decision)['Finished']?.split(' ')[0]

  it('keeps its job open, once for each step', () => {
    expect(isFinal(decide(scene([failed, DONE])))).toBe(true)
    expect(isFinal(decide(scene([failed, DONE], {}, { control: { retry: 1 } })))).toBe(false)
    expect(isFinal(decide(scene([{ ...failed, retried: 1 }, DONE], {}, { control: { retry: 1 } })))).toBe(
      true,
    )
  })
})

describe('the budget', () => {
  it('lets as many prepare as there are slots, in their order', () => {
    const of = scene([{}, {}, {}, {}], { concurrency: 2 })
    expect(decide(of).prepare).toEqual(of.names.slice(0, 2))
  })

  it('lets others prepare ahead while some upgrade, unreachable and confirming ones apart', () => {
    const confirming = { ...PREPARING, edge: { attempt: 1, seq: 3, step: 'E4c' } }
    const statuses = [PROCEEDING, PREPARING, { ...PREPARING, reason: 'Unreachable' }, confirming, {}, {}, {}]
    const of = scene(statuses, { upgradeHub: { prepareAhead: 2 } })
    expect(decide(of).prepare).toEqual(of.names.slice(4, 5))
  })

  it('releases prepared tasks into free slots, and pins the image of the first', () => {
    const of = scene([PROCEEDING, PREPARED, PREPARED, PREPARED], { concurrency: 3 })
    const decision = decide(of)
    expect(statusIn(decision)['releasing']).toEqual([
      { task: of.names[1], attempt: 1 },
      { task: of.names[2], attempt: 1 },
    ])
    expect(statusIn(decision)['image']).toMatchObject({ digest: `sha256:${'a'.repeat(64)}` })
  })

  it('releases nothing that reports another image than the pinned one', () => {
    const of = scene([PREPARED], {})
    const job = { ...of.job, status: { ...of.job.status, image: { digest: 'sha256:other' } } }
    expect(statusIn(decide({ ...of, job }))['releasing']).toEqual([])
  })

  it('stands still while too many nodes of the job are down, and says so', () => {
    const of = scene([PREPARED, DONE, DONE], { upgradeHub: { maxUnavailable: 1 } })
    expect(statusIn(decide(of))['releasing']).toHaveLength(1)
    of.index.observe('n2', aNode({ name: 'n2', ready: false }))
    const decision = decide(of)
    expect(statusIn(decision)['releasing']).toEqual([])
    expect(conditionsIn(decision)['Progressing']).toBe('True TooManyUnavailable')
    of.index.observe('n2', aNode({ name: 'n2' }))
    expect(statusIn(decide(of))['releasing']).toHaveLength(1)
  })

  it.each<[string, Partial<SlimNode>]>([
    ['is not Ready', { ready: false }],
    [
      'is held by another upgrade',
      { hold: { task: 'x', taskUID: 'x', epoch: 1, previousUnschedulable: false, takenAt: '' } },
    ],
    ['is another of its name', { uid: 'new' }],
    ['is being deleted', { deleting: true }],
  ])('passes over a prepared node that %s, and it costs no place', (_, odd) => {
    const of = scene([PREPARED, PREPARED, {}, {}])
    const node = (name: string) => aNode({ name, uid: `${name}-uid`, ...(name === 'n0' ? odd : {}) })
    const decision = decide(of, { node })
    expect(statusIn(decision)['releasing']).toEqual([{ task: of.names[1], attempt: 1 }])
    expect(decision.prepare).toEqual([of.names[2]])
  })

  it('counts an entry of releasing as a slot until its task tells otherwise', () => {
    const of = scene([PREPARED, PREPARED])
    const releasing = [{ task: of.names[0] ?? '', attempt: 1 }]
    const job = { ...of.job, status: { ...of.job.status, releasing } }
    const decision = decide({ ...of, job })
    expect(decision.release).toEqual([of.names[0]])
    expect(statusIn(decision)).not.toHaveProperty('releasing')
  })

  it.each<[string, Partial<TaskStatus>]>([
    ['proceeds', PROCEEDING],
    ['has ended', DONE],
    ['is in the queue again', { attempt: 1, reason: 'Busy' }],
    ['is at another attempt', { ...PREPARED, attempt: 2, edge: { ...PREPARED.edge, attempt: 2, seq: 1 } }],
  ])('drops an entry whose task %s', (_, status) => {
    const of = scene([status, {}])
    const job = {
      ...of.job,
      status: { ...of.job.status, releasing: [{ task: of.names[0] ?? '', attempt: 1 }] },
    }
    const releasing = statusIn(decide({ ...of, job }))['releasing'] as { attempt: number }[]
    expect(releasing.filter((entry) => entry.attempt === 1)).toEqual([])
  })

  it('counts a node that is ours though the entry is lost', () => {
    const of = scene([PREPARED, PREPARED])
    const node = (name: string) =>
      name === 'n0'
        ? held(of.tasks[0] ?? aTask(), { name, uid: 'n0-uid' })
        : aNode({ name, uid: `${name}-uid` })
    expect(statusIn(decide(of, { node }))['releasing']).toEqual([])
  })

  it.each<[string, Partial<NodeUpgradeJob>]>([
    ['paused', { control: { paused: true } }],
    ['cancelled', { control: { cancelled: true } }],
  ])('lets nothing begin while %s', (_, more) => {
    const decision = decide(scene([PREPARED, {}], {}, more))
    expect(decision.prepare).toEqual([])
    expect(statusIn(decision)['releasing']).toEqual([])
  })

  it('writes releases that fall due together in one go', () => {
    const of = scene([PREPARED, {}])
    const pace = { flushedAt: NOW, releasedAt: NOW }
    const told = {
      ...of.job,
      status: { ...of.job.status, ...statusIn(decide(scene([{}, {}]))), releasing: [] },
    } as NodeUpgradeJob
    expect(decide({ ...of, job: told }, { pace, now: at(0.1) })).toMatchObject({ wakeAt: at(0.2) })
    expect(decide({ ...of, job: told }, { pace, now: at(0.2) }).write).toMatchObject({
      target: 'status',
      release: true,
      flush: false,
    })
  })
})

describe('the tolerance', () => {
  const failed = ENDED('Failure', 'HealthFailed')
  it('is checked on every result, and a breach is stored before anybody is stopped by it', () => {
    const decision = decide(scene([failed, PREPARED, {}], { failureTolerate: '0.3' }))
    expect(conditionsIn(decision)).toMatchObject({ Progressing: 'False ThresholdBreached' })
    expect(decision.prepare).toEqual([])
    expect(statusIn(decision)['releasing']).toEqual([])
    expect(decision.events?.map((event) => event.reason)).toEqual(['ThresholdBreached'])
  })

  it.each<[string, readonly Partial<TaskStatus>[], string, boolean]>([
    ['a third is not above 0.34', [failed, {}, {}], '0.34', false],
    ['as much as tolerated is no breach', [failed, {}, {}, {}], '0.25', false],
    ['with 0 one is too many', [failed, {}, {}, {}], '0', true],
    ['an unknown end counts', [ENDED('Unknown', 'TimedOut'), {}], '0.1', true],
    ['skipped ones leave the ratio', [failed, ENDED('Skipped', 'AlreadyAtVersion'), {}, {}], '0.33', true],
    [
      'a refusal before anything was touched does not count yet',
      [ENDED('Failure', 'NotFound'), {}],
      '0',
      false,
    ],
    ['with 1 all may fail', [failed, failed], '1', false],
  ])('%s', (_, statuses, failureTolerate, breached) => {
    const { Progressing } = conditionsIn(
      decide(scene([...statuses, {}].slice(0, statuses.length), { failureTolerate })),
    )
    expect(Progressing === 'False ThresholdBreached').toBe(breached)
  })

  it('stays broken whatever turns out later', () => {
    const of = scene([DONE, PROCEEDING])
    const conditions = [
      condition('Accepted', 'True', 'Accepted'),
      condition('Progressing', 'False', 'ThresholdBreached'),
    ]
    expect(
      conditionsIn(decide({ ...of, job: { ...of.job, status: { ...of.job.status, conditions } } }))[
        'Progressing'
      ],
    ).toBe('False ThresholdBreached')
  })
})

describe('the end of a job', () => {
  const at_ = ENDED('Skipped', 'AlreadyAtVersion')
  it.each<[string, readonly Partial<TaskStatus>[], Spec, string]>([
    ['all upgraded', [DONE, DONE], {}, 'Completed Complete Completed'],
    [
      'some failed, tolerated',
      [DONE, ENDED('Failure', 'HealthFailed')],
      { failureTolerate: '0.5' },
      'Completed Complete CompletedWithFailures',
    ],
    ['too many failed', [DONE, ENDED('Failure', 'HealthFailed')], {}, 'Failure Failed ThresholdBreached'],
    [
      'refusals count at the end',
      [DONE, ENDED('Failure', 'NotFound')],
      {},
      'Failure Failed ThresholdBreached',
    ],
    ['nothing to do for anybody', [at_, ENDED('Skipped', 'Excluded')], {}, 'Completed Complete Completed'],
    ['all were away', [ENDED('Skipped', 'Offline')], {}, 'Failure Failed NoTargets'],
    ['nobody was meant', [], {}, 'Failure Failed NoTargets'],
    ['some were cancelled', [DONE, ENDED('Cancelled', 'Cancelled')], {}, 'Failure Failed Cancelled'],
    ['all were cancelled', [ENDED('Cancelled', 'Cancelled')], {}, 'Failure Failed Cancelled'],
    [
      'some were stopped',
      [DONE, ENDED('Skipped', 'Stopped')],
      { failureTolerate: '1' },
      'Failure Failed ThresholdBreached',
    ],
  ])('when %s', (_, statuses, spec, expected) => {
    const decision = decide(scene(statuses, { nodeNames: ['n0'], ...spec }))
    const conditions = conditionsIn(decision)
    const side = conditions['Complete'] ? 'Complete' : 'Failed'
    expect([statusIn(decision)['phase'], side, conditions['Finished']?.replace('True ', '')].join(' ')).toBe(
      expected,
    )
    expect(Object.keys(conditions).slice(-2)).toEqual([side, 'Finished'])
    expect(statusIn(decision)).toMatchObject({ state: 'completed', completionTime: time(0) })
  })

  it('says KubeEdge’s sentence for too many failures', () => {
    const decision = decide(scene([DONE, ENDED('Failure', 'HealthFailed')]))
    expect(statusIn(decision)['reason']).toBe(
      'the number of failed nodes is 1/2, which exceeds the failure tolerance threshold',
    )
  })

  it('waits until it is certain that missing tasks are gone', () => {
    const of = scene([DONE, DONE])
    of.index.remove(of.names[1] ?? '')
    expect(decide(of)).toEqual({ verifyMembers: true })
    expect(statusIn(decide(of, { complete: true }))).toMatchObject({
      phase: 'Failure',
      summary: { total: 2, successful: 1, skipped: 1 },
      progress: '2/2',
    })
  })

  it('never flips, and sees later edits of control', () => {
    const of = scene([DONE])
    const job = { ...of.job, status: { ...of.job.status, ...statusIn(decide(of)) } } as NodeUpgradeJob
    expect(decide({ ...of, job })).not.toHaveProperty('write')
    const edited = { ...job, metadata: { ...job.metadata, generation: 2 }, control: { cancelled: true } }
    const decision = decide({ job: edited, index: new JobIndex() })
    expect(statusIn(decision)).toMatchObject({ observedGeneration: 2 })
    expect(conditionsIn(decision)).toMatchObject({ Complete: 'True Completed', Finished: 'True Completed' })
    const stored = statusIn(decision)['conditions'] as {
      observedGeneration: number
      lastTransitionTime: string
    }[]
    expect(stored.every((c) => c.observedGeneration === 2)).toBe(true)
  })

  it('comes with the reason when the spec changed under its tasks', () => {
    const of = scene([PREPARED, DONE])
    const job = { ...of.job, spec: { ...of.job.spec, version: 'v1.13.0' } }
    expect(conditionsIn(decide({ ...of, job }))['Progressing']).toBe('False SchemaReplaced')
    const over = scene([ENDED('Skipped', 'Stopped'), DONE])
    const ended = { ...over.job, spec: { ...over.job.spec, version: 'v1.13.0' } }
    expect(conditionsIn(decide({ ...over, job: ended }))['Finished']).toBe('True SchemaReplaced')
  })
})

describe('a job that is deleted', () => {
  const metadata = {
    name: 'job',
    uid: 'job-uid',
    generation: 1,
    deletionTimestamp: time(0),
    finalizers: ['other', 'upgradehub.io/release'],
  }
  it('waits until nothing of it is left on a node', () => {
    expect(decide(scene([PROCEEDING], {}, { metadata })).write?.target).not.toBe('finalizers')
    expect(decide(scene([DONE], {}, { metadata }))).toEqual({})
  })

  it('goes when its tasks have let go', () => {
    const of = scene([DONE], {}, { metadata })
    const [task] = of.tasks
    if (task) of.index.upsert({ ...task, metadata: { ...task.metadata, finalizers: [] } }, NOW)
    expect(decide(of).write).toEqual({ target: 'finalizers', finalizers: ['other'] })
    expect(
      decide({ job: { ...of.job, metadata: { ...metadata, finalizers: ['other'] } }, index: of.index }),
    ).toEqual({})
  })
})

describe('the status', () => {
  it('is written at most every two seconds, changes of conditions apart', () => {
    const of = scene([DONE, PROCEEDING, {}])
    const told = {
      ...of.job,
      status: { ...of.job.status, ...statusIn(decide(scene([{}, {}, {}]))) },
    } as NodeUpgradeJob
    const pace = { flushedAt: NOW, releasedAt: NOW }
    expect(decide({ ...of, job: told }, { pace, now: at(1.9) })).toMatchObject({ wakeAt: at(2) })
    expect(decide({ ...of, job: told }, { pace, now: at(1.9) }).write).toBeUndefined()
    expect(statusIn(decide({ ...of, job: told }, { pace, now: at(2) }))).toMatchObject({ progress: '1/3' })
    const paused = { ...told, control: { paused: true } }
    const decision = decide({ ...of, job: paused }, { pace, now: at(1) })
    expect(conditionsIn(decision)).toMatchObject({ Paused: 'True Paused' })
    expect(decision.events?.map((event) => event.reason)).toEqual(['Paused'])
  })

  it('has at most 256 rows and counts the others', () => {
    const status = statusIn(decide(scene(Array.from({ length: 300 }, () => DONE))))
    expect(status['nodeStatus']).toHaveLength(256)
    expect(status['status']).toHaveLength(256)
    expect(status).toMatchObject({ omittedNodes: 44, progress: '300/300' })
  })

  it('of a large job is written every five seconds, and its releases every second', () => {
    const of = scene([PREPARED, ...Array.from({ length: 299 }, () => ({}))])
    const pace = { flushedAt: NOW, releasedAt: NOW }
    expect(conditionsIn(decide(of))).toMatchObject({ Progressing: 'True Upgrading' })
    const told = {
      ...of.job,
      status: { ...of.job.status, ...statusIn(decide(of)), releasing: [] },
    } as NodeUpgradeJob
    expect(decide({ ...of, job: told }, { pace, now: at(0.9) })).toMatchObject({ wakeAt: at(1) })
    const { write } = decide({ ...of, job: told }, { pace, now: at(1) })
    expect(write).toMatchObject({ release: true, flush: false })
    expect(write).not.toHaveProperty('status.nodeStatus')
    expect(statusIn(decide(of, { pace, now: at(5) }))['nodeStatus']).toHaveLength(256)
  })

  it('speaks KubeEdge’s words in its rows', () => {
    const actions = [
      { action: 'Check', succ: true, time: time(1) },
      { action: 'Upgrade', succ: false, reason: 'unhealthy' },
    ]
    const rolledBack: Partial<TaskStatus> = {
      phase: 'Failure',
      reason: 'HealthFailed',
      outcome: 'RolledBack',
      message: 'unhealthy',
      attempt: 1,
      fromVersion: 'v1.11.0',
      toVersion: 'v1.12.0',
      completionTime: time(9),
      edge: { attempt: 1, seq: 9, actions },
    }
    const upgraded: Partial<TaskStatus> = {
      ...DONE,
      attempt: 1,
      fromVersion: 'v1.11.0',
      toVersion: 'v1.12.0',
    }
    const of = scene([upgraded, rolledBack, PROCEEDING, {}], { failureTolerate: '1' })
    const status = statusIn(decide(of))
    expect(status['nodeStatus']).toEqual([
      {
        nodeName: 'n1',
        phase: 'Failure',
        reason: 'unhealthy',
        outcome: 'HealthFailed',
        currentVersion: 'v1.11.0',
        actionFlow: [
          { action: 'Check', status: 'True', time: time(1) },
          { action: 'Upgrade', status: 'False', reason: 'unhealthy' },
        ],
      },
      { nodeName: 'n2', phase: 'InProgress', currentVersion: 'v1.11.0' },
      {
        nodeName: 'n0',
        phase: 'Successful',
        outcome: 'Upgraded',
        currentVersion: 'v1.12.0',
        historicVersion: 'v1.11.0',
      },
      { nodeName: 'n3', phase: 'Pending' },
    ])
    expect(status['status']).toMatchObject([
      {
        nodeName: 'n1',
        state: 'completed',
        history: { result: 'upgrade_failed_rollback_success', upgradeTime: time(9) },
      },
      { nodeName: 'n2', state: 'upgrading', history: { result: '', historyID: `${of.names[2]}.1` } },
      { nodeName: 'n0', state: 'completed', history: { result: 'upgrade_success', fromVersion: 'v1.11.0' } },
      { nodeName: 'n3', state: '' },
    ])
  })
})
