import type { NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { decideTask } from './decide-task.ts'
import type { TaskDecision, TaskView } from './decisions.ts'
import { nodeRow } from './rows.ts'
import {
  aJob,
  aNode,
  aTask,
  at,
  aView,
  condition,
  held,
  PREPARED,
  PREPARING,
  PROCEEDING,
  reported,
  time,
} from './testing/fixtures.ts'

const AT_NEW = { version: 'v1.28.6-kubeedge-v1.12.0' }

function decide(status: Partial<TaskStatus>, more: Partial<TaskView> = {}): TaskDecision {
  return decideTask(aView({ task: aTask(status), ...more }))
}

/** What a decision comes to in a word: the phase that it writes, or what it does else. */
function gist({ write, wakeAt }: TaskDecision): string {
  if (!write) return wakeAt === undefined ? 'nothing' : 'waits'
  if (write.target === 'finalizers') return 'drops the finalizer'
  if (write.target === 'node')
    return write.patch.metadata.annotations['upgradehub.io/hold'] === null ? 'restores' : 'takes'
  const { phase, reason, intent } = write.status
  const verb = (intent as { verb?: string } | undefined)?.verb
  return [phase, reason, verb].filter(Boolean).join(' ') || 'notes'
}

function statusIn({ write }: TaskDecision): Record<string, unknown> {
  return write?.target === 'status' ? { ...write.status } : {}
}

const paused = aJob({}, { control: { paused: true } })
const cancelled = aJob({}, { control: { cancelled: true } })
const stopped = aJob(
  {},
  {
    status: {
      conditions: [
        condition('Accepted', 'True', 'Accepted'),
        condition('Progressing', 'False', 'ThresholdBreached'),
      ],
    },
  },
)
const deleting = aJob({}, { metadata: { name: 'job', uid: 'job-uid', deletionTimestamp: time(0) } })
const owned = (status: Partial<TaskStatus>, more = {}) => held(aTask(status), more)

describe('a task before its first intent', () => {
  it('prepares when the budget lets it', () => {
    expect(gist(decide({}))).toBe('nothing')
    const decision = decide({}, { mayPrepare: true, now: at(3) })
    expect(statusIn(decision)).toMatchObject({
      phase: 'Pending',
      active: 'true',
      stage: 'Prepare',
      attempt: 1,
      intent: { seq: 1, verb: 'prepare' },
      startTime: time(3),
      deadline: time(3 + 300 + 60),
      reason: null,
    })
  })

  it('tells the digest that the job has pinned', () => {
    const { status } = aJob()
    const job = aJob({}, { status: { ...status, image: { digest: 'sha256:x' } } })
    expect(statusIn(decide({}, { job, mayPrepare: true }))['intent']).toMatchObject({
      imageDigest: 'sha256:x',
    })
  })

  it('counts a node that is not Ready as unreachable from the start', () => {
    expect(gist(decide({}, { mayPrepare: true, node: aNode({ ready: false }) }))).toBe(
      'Pending Unreachable prepare',
    )
  })

  it.each<[string, Partial<TaskView>, string]>([
    ['waits while the job is paused', { job: paused }, 'nothing'],
    ['waits while the job is not accepted', { job: aJob({}, { status: {} }) }, 'nothing'],
    ['ends with a cancelled job', { job: cancelled }, 'Cancelled Cancelled'],
    ['ends with a job that is gone', { job: undefined }, 'Cancelled Cancelled'],
    ['ends with a job that stopped', { job: stopped }, 'Skipped Stopped'],
    ['ends when it came after the plan', { planned: false }, 'Skipped NotPlanned'],
    ['ends when its node is gone', { node: undefined }, 'Failure NodeGone'],
    ['ends when its node is another of the name (F21)', { node: aNode({ uid: 'new' }) }, 'Failure NodeGone'],
  ])('%s', (_, more, expected) => {
    expect(gist(decide({}, { mayPrepare: true, ...more }))).toBe(expected)
  })

  it.each([
    ['NotFound', 'Failure NotFound'],
    ['AlreadyAtVersion', 'Skipped AlreadyAtVersion'],
    ['Offline', 'Skipped Offline'],
  ])('with the verdict %s ends in one write', (reason, expected) => {
    const { spec, ...task } = aTask()
    const refused = { ...task, spec: { ...spec, verdict: 'Refused' as const, reason, message: 'so' } }
    expect(gist(decideTask(aView({ task: refused })))).toBe(expected)
    expect(statusIn(decideTask(aView({ task: refused })))).toMatchObject({ message: 'so', active: 'false' })
  })

  it('with the verdict Offline fails where the job says so', () => {
    const job = aJob({ upgradeHub: { offline: { policy: 'Fail' } } })
    const { spec, ...task } = aTask({}, job)
    const refused: NodeUpgradeTask = { ...task, spec: { ...spec, verdict: 'Refused', reason: 'Offline' } }
    expect(gist(decideTask(aView({ job, task: refused })))).toBe('Failure Offline')
  })
})

describe('a task that prepares', () => {
  it('is unreachable after a minute without a word', () => {
    expect(decide(PREPARING, { now: at(59) })).toEqual({ wakeAt: at(60) })
    expect(statusIn(decide(PREPARING, { now: at(60) }))).toMatchObject({ reason: 'Unreachable' })
  })

  it('has its own timers once the edge has spoken', () => {
    const heard = { ...PREPARING, edge: { attempt: 1, seq: 2, step: 'E3' } }
    expect(decide(heard, { now: at(300) })).toEqual({ wakeAt: at(360) })
    expect(statusIn(decide(heard, { now: at(360) }))).toMatchObject({ reason: 'Unreachable' })
  })

  it('is not unreachable any more once the edge has spoken', () => {
    const back = { ...PREPARING, reason: 'Unreachable', edge: { attempt: 1, seq: 2, step: 'E3' } }
    expect(statusIn(decide(back, { now: at(200) }))).toMatchObject({ reason: null, message: null })
  })

  it('says that it waits for a person, and in its row too', () => {
    const edge = { attempt: 1, seq: 4, step: 'E4c', actions: [{ action: 'Check', succ: true }] }
    const asking = { ...PREPARING, edge }
    const said = statusIn(decide(asking, { now: at(30) }))
    expect(said).toMatchObject({ reason: 'WaitingConfirmation', message: expect.stringContaining('confirm') })
    const waiting = { ...asking, reason: 'WaitingConfirmation' }
    expect(decide(waiting, { now: at(30) })).toEqual({ wakeAt: at(360) })
    expect(nodeRow(aTask(waiting)).actionFlow).toEqual([
      { action: 'Check', status: 'True' },
      { action: 'WaitingConfirmation', status: 'Unknown' },
    ])
  })

  it.each<['Skip' | 'Fail' | 'Queue', number, string]>([
    ['Skip', 300, 'Skipped Offline'],
    ['Fail', 300, 'Failure Offline'],
    ['Queue', 500, 'Skipped Offline'],
  ])('that is unreachable ends by the policy %s after %i s', (policy, seconds, expected) => {
    const job = aJob({ upgradeHub: { offline: { policy, ttlSeconds: 500 } } })
    const status = { ...PREPARING, reason: 'Unreachable' }
    expect(decide(status, { job, now: at(seconds - 1) })).toEqual({ wakeAt: at(seconds) })
    expect(gist(decide(status, { job, now: at(seconds) }))).toBe(expected)
  })

  const refused = (code: string) => ({
    ...PREPARING,
    edge: { attempt: 1, seq: 1, answer: { seq: 1, value: 'refused', code, reason: 'so' } },
  })
  it.each([
    ['PolicyRefused', 'Failure PolicyRefused'],
    ['PullFailed', 'Failure PullFailed'],
    ['AlreadyAtVersion', 'Skipped AlreadyAtVersion'],
    ['Busy', 'Pending Busy'],
    ['gibberish', 'Failure BadRequest'],
  ])('and is refused with %s is %s, nobody cordoned', (code, expected) => {
    expect(gist(decide(refused(code)))).toBe(expected)
    expect(statusIn(decide(refused(code)))).toMatchObject({ message: 'so' })
  })

  it('rests after Busy with the attempt it had, and prepares again', () => {
    const again = statusIn(decide(refused('Busy')))
    expect(again).toMatchObject({ stage: null, deadline: time(30) })
    expect(again).not.toHaveProperty('attempt')
    const { stage: _, ...rest } = refused('Busy')
    const resting = { ...rest, reason: 'Busy', deadline: time(30) }
    expect(decide(resting, { mayPrepare: true, now: at(29) })).toEqual({ wakeAt: at(30) })
    expect(statusIn(decide(resting, { mayPrepare: true, now: at(30) }))).toMatchObject({
      attempt: 1,
      intent: { seq: 2, verb: 'prepare' },
    })
  })

  it.each([
    ['Busy', 2, 30],
    ['Busy', 4, 60],
    ['Busy', 40, 300],
    ['PreparedStale', 2, 2],
    ['PreparedStale', 8, 16],
  ])('rests longer after each %s in a row, at the %ith intent %i s', (code, seq, seconds) => {
    const answer = { seq, value: 'refused', code }
    const status = { ...PROCEEDING, intent: { seq, verb: 'proceed' as const } }
    const again = statusIn(decide({ ...status, edge: { attempt: 1, seq: 9, answer } }))
    expect(again).toMatchObject({ phase: 'Pending', deadline: time(seconds) })
  })

  it('listens to no answer to another intent, and to none that is not the last word', () => {
    const answer = (seq: number, value: string) => ({
      ...PREPARING,
      edge: { attempt: 1, seq: 1, answer: { seq, value, code: 'Busy' } },
    })
    expect(gist(decide(answer(0, 'refused')))).toBe('waits')
    expect(gist(decide(answer(1, 'accepted')))).toBe('waits')
    expect(gist(decide(answer(1, 'stale')))).toBe('waits')
  })

  it('stays active when cancelled, so that an edge which comes back hears of it', () => {
    expect(statusIn(decide(PREPARING, { job: cancelled }))).toMatchObject({
      phase: 'Cancelled',
      active: 'true',
      intent: { seq: 2, verb: 'cancel' },
    })
    expect(statusIn(decide({}, { job: cancelled }))).toMatchObject({ phase: 'Cancelled', active: 'false' })
  })
})

describe('a prepared task', () => {
  it.each<[string, Partial<TaskView>, string]>([
    ['waits for its turn', {}, 'nothing'],
    ['is taken when it is released', { released: true }, 'takes'],
    ['is not taken while paused', { released: true, job: paused }, 'nothing'],
    [
      'is not taken from another upgrade',
      {
        released: true,
        node: held(aTask(), {
          hold: { task: 'x', taskUID: 'x', epoch: 1, previousUnschedulable: false, takenAt: '' },
        }),
      },
      'Busy',
    ],
    [
      'is not taken while its node is deleted',
      { released: true, node: aNode({ deleting: true }) },
      'nothing',
    ],
    ['ends with a job that stopped', { released: true, job: stopped }, 'Skipped Stopped cancel'],
    ['ends with a cancelled job', { released: true, job: cancelled }, 'Cancelled Cancelled cancel'],
    ['with our hold goes on to proceed', { node: owned(PREPARED) }, 'InProgress proceed'],
    ['is not taken by a broken spec', { released: true, job: aJob({ version: '' }) }, 'nothing'],
    [
      'with our hold is let go of by a broken spec',
      { node: owned(PREPARED), job: aJob({ version: '' }) },
      'restores',
    ],
    ['with our hold goes on even while paused', { node: owned(PREPARED), job: paused }, 'InProgress proceed'],
    ['with our hold is let go of when cancelled', { node: owned(PREPARED), job: cancelled }, 'restores'],
    ['with our hold is let go of when stopped', { node: owned(PREPARED), job: stopped }, 'restores'],
    ['notes that its node is not Ready', { released: true, node: aNode({ ready: false }) }, 'Offline'],
  ])('%s', (_, more, expected) => {
    expect(gist(decide(PREPARED, more))).toBe(expected)
  })

  it('stores a permission that ends by itself, with the epoch of the take', () => {
    expect(statusIn(decide(PREPARED, { node: owned(PREPARED, { epoch: 1 }), now: at(10) }))).toMatchObject({
      phase: 'InProgress',
      stage: 'Proceed',
      intent: { seq: 2, verb: 'proceed', epoch: 1, notAfter: time(130) },
      deadline: time(10 + 120 + 300 + 300 + 60),
      fromVersion: 'v1.11.0',
      toVersion: 'v1.12.0',
    })
  })

  it('whose image is another than the pinned one fails, and is never taken', () => {
    const { status } = aJob()
    const job = aJob({}, { status: { ...status, image: { digest: 'sha256:other' } } })
    expect(gist(decide(PREPARED, { job, released: true }))).toBe('Failure TagMoved cancel')
  })

  it('that waits for its node to be Ready ends by the policy, and goes on when it is', () => {
    const waiting = { ...PREPARED, reason: 'Offline', deadline: time(300) }
    const away = aNode({ ready: false })
    expect(decide(waiting, { node: away, now: at(299) })).toEqual({ wakeAt: at(300) })
    expect(gist(decide(waiting, { node: away, now: at(300) }))).toBe('Skipped Offline cancel')
    expect(statusIn(decide(waiting, { released: true }))).toEqual({ reason: null, message: null })
  })
})

describe('an edge that gives an attempt up though nobody has asked', () => {
  const refused = (status: Partial<TaskStatus>, seq: number) => ({
    ...status,
    edge: { attempt: 1, seq: 3, answer: { seq, value: 'refused', code: 'Cancelled' } },
  })
  it.each([
    ['refuses to prepare it', refused(PREPARING, 1)],
    ['refuses to proceed', refused(PROCEEDING, 2)],
    ['reports its end', reported('Cancelled', 'Cancelled', PREPARED)],
  ])('and %s gets another, so that the job does not lose the node', (_, status) => {
    expect(statusIn(decide(status))).toMatchObject({ phase: 'Pending', attempt: 2, reason: 'PreparedStale' })
  })

  it('is not asked for ever', () => {
    const eighth = { ...refused(PREPARING, 1), attempt: 8 }
    expect(gist(decide(eighth))).toBe('Failure FailedBeforeChange')
  })

  it('has ended it where the job is cancelled', () => {
    expect(gist(decide(refused(PREPARING, 1), { job: cancelled }))).toBe('Cancelled Cancelled')
  })
})

describe('a task that was told to proceed', () => {
  const proceeding = (status: Partial<TaskStatus>, more: Partial<TaskView> = {}) =>
    decide(status, { node: owned(PROCEEDING), ...more })
  const answered = (value: string, code = '', verb: 'proceed' | 'cancel' = 'proceed') => ({
    ...PROCEEDING,
    intent: { seq: 3, verb },
    edge: { attempt: 1, seq: 4, answer: { seq: 3, value, code } },
  })
  const free = { node: aNode() }

  it.each<[string, Partial<TaskStatus>, Partial<TaskView>, string]>([
    ['waits for the result', PROCEEDING, {}, 'waits'],
    ['goes on while paused', PROCEEDING, { job: paused }, 'waits'],
    ['goes on when the job stopped', PROCEEDING, { job: stopped }, 'waits'],
    ['is never taken again when the mark is gone, only noted', PROCEEDING, free, 'HoldLost'],
    ['waits without a mark to the deadline', { ...PROCEEDING, reason: 'HoldLost' }, free, 'waits'],
    ['is asked to give up when the job is cancelled', PROCEEDING, { job: cancelled }, 'cancel'],
    ['is asked to give up when the job is deleted', PROCEEDING, { job: deleting }, 'cancel'],
    ['is asked once', answered('accepted', '', 'cancel'), { job: cancelled }, 'waits'],
    [
      'that was too late waits for the result',
      answered('tooLate', '', 'cancel'),
      { job: cancelled },
      'waits',
    ],
    ['that gave up is let go of', answered('done', '', 'cancel'), { job: cancelled }, 'restores'],
    ['that gave up ends', answered('done', '', 'cancel'), { job: cancelled, ...free }, 'Cancelled Cancelled'],
    [
      'that never was there ends',
      answered('tombstoned', '', 'cancel'),
      { job: cancelled, ...free },
      'Cancelled Cancelled',
    ],
    ['that says done to the permission is not cancelled', answered('done', 'Upgraded'), {}, 'waits'],
    ['that is busy is let go of', answered('refused', 'Busy'), {}, 'restores'],
    ['that is busy is in the queue again', answered('refused', 'Busy'), free, 'Pending Busy'],
    [
      'that is busy and cancelled ends',
      answered('refused', 'Busy'),
      { job: cancelled, ...free },
      'Cancelled Cancelled',
    ],
    ['that refuses for good ends', answered('refused', 'NodeReplaced'), free, 'Failure NodeReplaced'],
    ['that is past its deadline is let go of', PROCEEDING, { now: at(780) }, 'restores'],
    ['that is past its deadline is unknown', PROCEEDING, { now: at(780), ...free }, 'Unknown TimedOut'],
    ['whose node is gone ends', PROCEEDING, { node: undefined }, 'Failure NodeGone'],
    [
      'whose success shows is let go of',
      reported('Succeeded', 'Upgraded'),
      { node: owned(PROCEEDING, AT_NEW) },
      'restores',
    ],
    [
      'whose success shows ends',
      reported('Succeeded', 'Upgraded'),
      { node: aNode(AT_NEW) },
      'Successful Upgraded',
    ],
    [
      'whose success does not show yet waits',
      reported('Succeeded', 'Upgraded'),
      { resultSeenAt: at(0) },
      'waits',
    ],
    [
      'whose success never shows is let go of',
      reported('Succeeded'),
      { resultSeenAt: at(0), now: at(120) },
      'restores',
    ],
    [
      'whose success never shows is unknown',
      reported('Succeeded'),
      { resultSeenAt: at(0), now: at(120), ...free },
      'Unknown NotVerified',
    ],
    ['that rolled back ends', reported('RolledBack', 'HealthFailed'), free, 'Failure HealthFailed'],
    ['that lost its way back ends', reported('RollbackFailed'), free, 'Failure RollbackFailed'],
    ['whose edge cannot tell is unknown', reported('StateUnreadable'), free, 'Unknown StateUnreadable'],
    [
      'is not asked to give up once it has reported',
      reported('RolledBack'),
      { job: cancelled, ...free },
      'Failure RolledBack',
    ],
  ])('%s', (_, status, more, expected) => {
    expect(gist(proceeding(status, more))).toBe(expected)
  })

  it('says the KubeEdge sentence when it timed out, and that the mark was lost', () => {
    expect(statusIn(proceeding(PROCEEDING, { now: at(780), ...free }))['message']).toBe(
      'The node task has timed out',
    )
    const lost = { ...PROCEEDING, reason: 'HoldLost' }
    expect(statusIn(proceeding(lost, { now: at(780), ...free }))['message']).toMatch(
      /^The node task has timed out; HoldLost: /,
    )
  })

  it('waits for the proof no longer than its deadline and a minute', () => {
    const late = { resultSeenAt: at(770), now: at(839) }
    expect(gist(proceeding(reported('Succeeded'), late))).toBe('waits')
    expect(gist(proceeding(reported('Succeeded'), { ...late, now: at(840) }))).toBe('restores')
  })

  it('writes the history with the mark', () => {
    const { write } = proceeding(reported('Succeeded'), { node: owned(PROCEEDING, AT_NEW) })
    const annotations = write?.target === 'node' ? write.patch.metadata.annotations : {}
    expect(annotations['nodeupgradejob.operations.kubeedge.io/history']).toBe('v1.11.0->v1.12.0')
  })

  it.each<[string, object, boolean]>([
    ['RollbackFailed', {}, false],
    ['RollbackFailed', { keepCordonedOn: [] }, true],
    ['RolledBack', {}, true],
    ['RolledBack', { keepCordonedOn: ['Failure'] }, false],
    ['StateUnreadable', { keepCordonedOn: ['Unknown'] }, false],
  ])('after %s with %j the node is opened: %s (R19)', (outcome, upgradeHub, opens) => {
    const job = aJob({ upgradeHub })
    const first = proceeding(reported(outcome), { job }).write
    expect(first?.target).toBe(opens ? 'node' : 'status')
    const ended = first?.target === 'status' ? first.status : {}
    const { write } = proceeding({ ...reported(outcome), ...(ended as Partial<TaskStatus>) }, { job })
    expect(write).toMatchObject({ target: 'node' })
    expect(write?.target === 'node' && write.patch.spec !== undefined).toBe(opens)
  })

  it('tells people how it ended', () => {
    const words = (status: Partial<TaskStatus>, more: Partial<TaskView> = free) =>
      proceeding(status, more).events?.map(({ on, type, reason }) => `${on} ${type} ${reason}`)
    expect(words(reported('Succeeded'), { node: aNode(AT_NEW) })).toEqual([
      'job Normal NodeUpgraded',
      'node Normal NodeUpgraded',
    ])
    expect(words(reported('RolledBack'))).toEqual([
      'job Warning NodeRolledBack',
      'node Warning NodeRolledBack',
    ])
    expect(words(reported('RollbackFailed'))).toEqual([
      'job Warning RollBackFailed',
      'node Warning RollBackFailed',
    ])
    expect(words(PROCEEDING, { ...free, now: at(780) })).toEqual([
      'job Warning NodeTimedOut',
      'node Warning NodeTimedOut',
    ])
  })
})

describe('a result that asks to be tried again', () => {
  it('spends its attempt, because a stored result is never replaced', () => {
    const status = statusIn(decide(reported('RefusedBeforeChange', 'PreparedStale')))
    expect(status).toMatchObject({
      phase: 'Pending',
      attempt: 2,
      attempts: [{ attempt: 1, reason: 'PreparedStale' }],
    })
  })

  it('is tried again only so often', () => {
    const edge = {
      attempt: 8,
      seq: 1,
      results: [{ attempt: 8, outcome: 'RefusedBeforeChange', code: 'Busy' }],
    }
    expect(gist(decide({ ...PROCEEDING, attempt: 8, edge }))).toBe('Failure FailedBeforeChange')
  })
})

describe('an ended task', () => {
  const unknown: Partial<TaskStatus> = {
    phase: 'Unknown',
    active: 'false',
    attempt: 1,
    reason: 'TimedOut',
    attempts: [{ attempt: 1, outcome: 'Unknown', reason: 'TimedOut' }],
  }
  const finished = aJob(
    {},
    {
      status: {
        conditions: [condition('Accepted', 'True', 'Accepted'), condition('Finished', 'True', 'Completed')],
      },
    },
  )
  const cancelling = {
    phase: 'Cancelled' as const,
    active: 'true',
    attempt: 1,
    intent: { seq: 2, verb: 'cancel' as const },
  }
  const doneEdge = { attempt: 1, seq: 1, answer: { seq: 2, value: 'done' } }

  it.each<[string, Partial<TaskStatus>, Partial<TaskView>, string]>([
    ['is left alone', { phase: 'Successful', active: 'false' }, {}, 'nothing'],
    ['lets go of a node that it still holds', { phase: 'Failure' }, { node: held(aTask()) }, 'restores'],
    ['of unknown end turns into the truth', reported('RolledBack', '', unknown), {}, 'Failure RolledBack'],
    [
      'of unknown end turns into a success that shows',
      reported('Succeeded', '', unknown),
      { node: aNode(AT_NEW) },
      'Successful Upgraded',
    ],
    [
      'of unknown end stays so while a success does not show',
      reported('Succeeded', '', unknown),
      {},
      'nothing',
    ],
    ['of unknown end stays so without a result', unknown, { node: aNode(AT_NEW) }, 'nothing'],
    [
      'of unknown end stays so once the job has ended',
      reported('RolledBack', '', unknown),
      { job: finished },
      'nothing',
    ],
    [
      'that failed stays failed whatever is reported',
      reported('Succeeded', '', { ...unknown, phase: 'Failure' }),
      { node: aNode(AT_NEW) },
      'nothing',
    ],
    ['that was cancelled waits for the answer', cancelling, { job: cancelled }, 'nothing'],
    [
      'that was cancelled and answered is no longer active',
      { ...cancelling, edge: doneEdge },
      { job: cancelled },
      'notes',
    ],
    [
      'drops the finalizer when its job goes',
      { phase: 'Successful', active: 'false' },
      { job: deleting },
      'drops the finalizer',
    ],
    [
      'drops the finalizer when its job is gone',
      { phase: 'Successful', active: 'false' },
      { job: undefined },
      'drops the finalizer',
    ],
    [
      'drops the finalizer of a cancel that no edge will answer',
      { ...cancelling, completionTime: time(0) },
      { job: deleting },
      'drops the finalizer',
    ],
    [
      'waits a while for an edge that was there',
      { ...cancelling, completionTime: time(0), edge: { attempt: 1, seq: 0 } },
      { job: deleting, now: at(29) },
      'waits',
    ],
    [
      'waits no longer than a while',
      { ...cancelling, completionTime: time(0), edge: { attempt: 1, seq: 0 } },
      { job: deleting, now: at(30) },
      'drops the finalizer',
    ],
  ])('%s', (_, status, more, expected) => {
    expect(gist(decide(status, more))).toBe(expected)
  })

  it('takes the late word of an edge for the truth while the job is open', () => {
    const edge = { attempt: 1, seq: 9, late: [{ attempt: 1, outcome: 'RolledBack', code: 'HealthFailed' }] }
    expect(statusIn(decide({ ...unknown, edge }))).toMatchObject({
      phase: 'Failure',
      attempts: [{ attempt: 1, outcome: 'RolledBack', reason: 'HealthFailed' }],
    })
  })
})

describe('a node that another upgrade holds', () => {
  const hold = { task: 'x', taskUID: 'x', epoch: 1, previousUnschedulable: false, takenAt: '' }
  const busy = (busyPolicy: 'Wait' | 'Skip', status: Partial<TaskStatus> = {}, node = aNode({ hold })) => {
    const job = aJob({ upgradeHub: { busyPolicy } })
    return decideTask(aView({ job, task: aTask(status, job), node, released: true })).write
  }

  it('is waited for, unless the job skips it (R17)', () => {
    expect(busy('Wait', PREPARED)).toMatchObject({ status: { reason: 'Busy' } })
    expect(busy('Wait', { ...PREPARED, reason: 'Busy' })).toBeUndefined()
    expect(busy('Wait', { ...PREPARED, reason: 'Busy' }, aNode())).toMatchObject({ status: { reason: null } })
    for (const status of [{}, PREPARED])
      expect(busy('Skip', status)).toMatchObject({
        status: { phase: 'Skipped', reason: 'Busy', outcome: 'Skipped' },
      })
  })

  it('is skipped too when only the node knows of the other one', () => {
    const refused = {
      ...PREPARED,
      edge: { attempt: 1, seq: 3, answer: { seq: 1, value: 'refused', code: 'Busy' } },
    }
    expect(busy('Skip', refused, aNode())).toMatchObject({ status: { phase: 'Skipped' } })
    expect(busy('Wait', refused, aNode())).toMatchObject({ status: { phase: 'Pending' } })
  })
})
