import { CRDS, type NodeUpgradeTask, type TaskEdge, type TaskStatus } from '@upgrade-hub/api'
import type { Answer, Progress } from '@upgrade-hub/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideEdge } from './decide.ts'
import type { EdgeMessage, ResultReport } from './decision.ts'
import { foldEdge } from './fold.ts'
import { mergePatch } from './merge-patch.ts'

function task(status: Partial<TaskStatus> = {}): NodeUpgradeTask {
  return {
    apiVersion: 'upgradehub.io/v1alpha1',
    kind: 'NodeUpgradeTask',
    metadata: { name: 'job-abc', uid: 'uid-1' },
    spec: { jobName: 'job', nodeName: 'n1', nodeUID: 'node-uid' } as NodeUpgradeTask['spec'],
    status: { phase: 'InProgress', attempt: 1, intent: { seq: 1, verb: 'prepare' }, ...status },
  }
}

const answer = (over: Partial<Answer> = {}): EdgeMessage => ({
  kind: 'answer',
  nodeName: 'n1',
  body: {
    Task: 'job-abc',
    TaskUID: 'uid-1',
    Attempt: 1,
    IntentSeq: 1,
    Value: 'prepared',
    Code: '',
    Reason: '',
    ...over,
  },
})

const progress = (over: Partial<Progress> = {}): EdgeMessage => ({
  kind: 'progress',
  nodeName: 'n1',
  body: {
    action: 'Check',
    succ: true,
    finishTime: '2026-01-01T00:00:00Z',
    reason: '',
    extend: 'v1.0.0,v1.1.0',
    Task: 'job-abc',
    TaskUID: 'uid-1',
    Attempt: 1,
    Seq: 3,
    Step: 'E2',
    Final: true,
    ...over,
  },
})

const result = (over: Partial<ResultReport> = {}): EdgeMessage => ({
  kind: 'result',
  nodeName: 'n1',
  body: {
    UpgradeID: 'job',
    HistoryID: 'job-abc.1',
    NodeName: 'n1',
    FromVersion: 'v1.0.0',
    ToVersion: 'v1.1.0',
    Status: 'upgrade_success',
    Reason: '',
    Outcome: 'Succeeded',
    attempt: 1,
    ...over,
  },
})

/** The task after the message, as the API server would store it. */
function after(before: NodeUpgradeTask, ...messages: EdgeMessage[]): NodeUpgradeTask {
  const { edge } = foldEdge(before, messages)
  return edge ? { ...before, status: { phase: 'Pending', ...before.status, edge } } : before
}

describe('who may say something of a task', () => {
  it.each([
    ['another node', { ...answer(), nodeName: 'n2' }, 'NOT_YOURS'],
    ['a task of the same name and another UID', answer({ TaskUID: 'uid-0' }), 'UNKNOWN_TASK'],
    ['an attempt that was never begun', progress({ Attempt: 2 }), 'NOT_DISPATCHED'],
    ['an intent that was never given', answer({ IntentSeq: 2 }), 'NOT_DISPATCHED'],
    ['a result of an attempt that was never begun', result({ attempt: 2 }), 'NOT_DISPATCHED'],
    ['a result that names another job', result({ UpgradeID: 'other' }), 'MISMATCH'],
  ] as const)('refuses %s', (_, message, code) => {
    expect(decideEdge(task(), message as EdgeMessage)).toMatchObject({ kind: 'refuse', code })
  })

  it('refuses everything of a task that nobody asked the node to begin', () => {
    const { intent: _, ...idle } = task().status as TaskStatus
    const pending = { ...task(), status: idle }
    for (const message of [progress(), result(), answer({ IntentSeq: 0 })]) {
      expect(decideEdge(pending, message)).toMatchObject({ kind: 'refuse', code: 'NOT_DISPATCHED' })
    }
  })
})

describe('answers', () => {
  it('leave the end of a proceed to its result', () => {
    const proceeding = task({ intent: { seq: 2, verb: 'proceed' } })
    expect(decideEdge(proceeding, answer({ IntentSeq: 2, Value: 'done', Code: 'Upgraded' }))).toEqual({
      kind: 'already',
    })
    expect(decideEdge(proceeding, answer({ IntentSeq: 2, Value: 'refused', Code: 'Busy' })).kind).toBe(
      'patch',
    )
  })

  it('stores what the node prepared', () => {
    const edge = after(task(), answer({ FromVersion: 'v1.0.0', Platform: { os: 'linux', arch: 'arm64' } }))
      .status?.edge
    expect(edge).toMatchObject({
      attempt: 1,
      seq: 0,
      answer: { seq: 1, value: 'prepared', fromVersion: 'v1.0.0', platform: { os: 'linux', arch: 'arm64' } },
    })
  })

  it('lets the last word follow `accepted`, and nothing follow the last word', () => {
    const accepted = after(task(), answer({ Value: 'accepted' }))
    const prepared = after(accepted, answer())
    expect(prepared.status?.edge?.answer?.value).toBe('prepared')
    expect(decideEdge(prepared, answer({ Value: 'accepted' })).kind).toBe('already')
    expect(decideEdge(prepared, answer({ Value: 'refused', Code: 'Busy' })).kind).toBe('already')
  })

  it('ignores an answer to an intent that has been replaced', () => {
    const cancelled = task({ intent: { seq: 2, verb: 'cancel' } })
    expect(decideEdge(cancelled, answer({ IntentSeq: 1 })).kind).toBe('already')
    expect(after(cancelled, answer({ IntentSeq: 2, Value: 'tooLate' })).status?.edge?.answer?.seq).toBe(2)
  })

  it('keeps what an earlier answer of the attempt told of the node', () => {
    const digest = `sha256:${'a'.repeat(64)}`
    const prepared = after(task(), answer({ IndexDigest: digest, FromVersion: 'v1.0.0' }))
    const proceeding = {
      ...prepared,
      status: { ...prepared.status, intent: { seq: 2, verb: 'proceed' } },
    } as NodeUpgradeTask
    const refused = after(proceeding, answer({ IntentSeq: 2, Value: 'refused', Code: 'Busy' }))
    expect(refused.status?.edge?.answer).toMatchObject({
      seq: 2,
      value: 'refused',
      code: 'Busy',
      indexDigest: digest,
      fromVersion: 'v1.0.0',
    })
  })

  it('starts anew with the next attempt, keeping the history', () => {
    const first = after(
      task(),
      answer({ FromVersion: 'v1.0.0' }),
      progress(),
      result({ Outcome: 'RolledBack' }),
    )
    const retried = {
      ...first,
      status: { ...first.status, attempt: 2, intent: { seq: 3 } },
    } as NodeUpgradeTask
    const edge = after(retried, answer({ Attempt: 2, IntentSeq: 3 })).status?.edge
    expect(edge).toMatchObject({ attempt: 2, seq: 0, results: [{ attempt: 1, outcome: 'RolledBack' }] })
    expect(edge?.actions).toBeUndefined()
    expect(edge?.answer?.fromVersion).toBeUndefined()
  })
})

describe('progress', () => {
  it('moves the step and appends an action that is over', () => {
    const edge = after(task(), progress({ Final: false, Step: 'E3', Seq: 4, Percent: 40 })).status?.edge
    expect(edge).toMatchObject({ seq: 4, step: 'E3', percent: 40, actions: [] })
    expect(after(task(), progress()).status?.edge?.actions).toEqual([
      { action: 'Check', succ: true, reason: '', time: '2026-01-01T00:00:00Z' },
    ])
  })

  it('takes a lower journal number as old news, but never loses the end of an action', () => {
    const far = after(task(), progress({ Final: false, Step: 'E7', Seq: 9 }))
    expect(decideEdge(far, progress({ Final: false, Seq: 4 })).kind).toBe('already')
    expect(after(far, progress({ Seq: 4 })).status?.edge).toMatchObject({
      seq: 9,
      step: 'E7',
      actions: [{ action: 'Check' }],
    })
  })

  it('lets a download move on within one journal record, and only on', () => {
    const half = after(task(), progress({ Final: false, Step: 'E3', Percent: 50 }))
    expect(after(half, progress({ Final: false, Step: 'E3', Percent: 60 })).status?.edge?.percent).toBe(60)
    expect(decideEdge(half, progress({ Final: false, Step: 'E3', Percent: 40 })).kind).toBe('already')
  })

  it('is over with the result of the attempt', () => {
    expect(decideEdge(after(task(), result()), progress({ Seq: 99 })).kind).toBe('already')
  })
})

describe('results', () => {
  it.each([
    ['edgecore', 'v1.1.0'],
    ['edgehub', '0.2.0'],
  ])('of the component %s stand beside the version %s that the session shows', (component, version) => {
    const { spec, ...rest } = task()
    const probe = { version: 'v1.1.0', edgehub: '0.2.0', bootID: 'b', time: '2026-01-01T00:00:00Z' }
    const { status } = after({ ...rest, spec: { ...spec, component } }, result({ probe }))
    expect(status?.edge?.probe).toEqual({ version, bootID: 'b', time: '2026-01-01T00:00:00Z' })
  })

  it.each([
    [{ Outcome: 'Succeeded' }, ['Check true', 'Upgrade true']],
    [{ Outcome: 'Succeeded', Code: 'AlreadyAtVersion' }, ['Check true']],
    [{ Outcome: 'RolledBack' }, ['Check true', 'Upgrade false', 'RollBack true']],
    [{ Outcome: 'RollbackFailed' }, ['Check true', 'Upgrade false', 'RollBack false']],
    [{ Outcome: 'FailedBeforeChange' }, ['Check true']],
  ] as const)(
    'say of %o which actions are over, though the progress of the last comes too late',
    (over, flow) => {
      const edge = after(task(), progress(), result(over)).status?.edge
      expect(edge?.actions?.map(({ action, succ }) => `${action} ${succ}`)).toEqual(flow)
    },
  )

  it('repeat no action that was told before', () => {
    const told = after(task(), progress({ action: 'Upgrade', finishTime: 'then' }))
    expect(after(told, result()).status?.edge?.actions).toEqual([
      { action: 'Upgrade', succ: true, reason: '', time: 'then' },
    ])
  })

  it('stores the first result of an attempt and says already to every repeat', () => {
    const done = after(task(), result())
    expect(done.status?.edge?.results).toEqual([
      {
        attempt: 1,
        outcome: 'Succeeded',
        code: '',
        from: 'v1.0.0',
        to: 'v1.1.0',
        runningVersion: '',
        finishedAt: '',
        reason: '',
      },
    ])
    expect(decideEdge(done, result({ FinishedAt: 'later', Reason: 'again' })).kind).toBe('already')
  })

  it('appends a different later outcome to late, once, and leaves the first', () => {
    const both = after(task(), result(), result({ Outcome: 'RolledBack' }), result({ Outcome: 'RolledBack' }))
    expect(both.status?.edge?.results?.map((r) => r.outcome)).toEqual(['Succeeded'])
    expect(both.status?.edge?.late?.map((r) => r.outcome)).toEqual(['RolledBack'])
  })

  it('keeps late to eight entries and still acknowledges, because the attempt is stored', () => {
    const many = Array.from({ length: 20 }, (_, i) => result({ Outcome: 'RolledBack', Code: `c${i}` }))
    const full = after(task(), result(), ...many)
    expect(full.status?.edge?.late).toHaveLength(8)
    expect(decideEdge(full, result({ Code: 'new' })).kind).toBe('already')
  })

  it('refuses a first result for which both lists are full, instead of acknowledging it unstored', () => {
    const entry = (attempt: number) => ({ attempt, outcome: 'RolledBack' })
    const edge: TaskEdge = {
      attempt: 30,
      seq: 0,
      results: Array.from({ length: 16 }, (_, i) => entry(i + 1)),
      late: Array.from({ length: 8 }, (_, i) => entry(i + 17)),
    }
    const full = task({ attempt: 30, edge })
    expect(decideEdge(full, result({ attempt: 30, HistoryID: 'job-abc.30' }))).toMatchObject({
      kind: 'refuse',
      code: 'HISTORY_FULL',
    })
  })

  it.each([
    ['Cancelled', 'RolledBack'],
    ['Skipped', 'Succeeded'],
    ['Failure', 'Succeeded'],
    ['Successful', 'RolledBack'],
  ] as const)('notes what contradicts a task that ended %s as late', (phase, Outcome) => {
    const edge = after(task({ phase }), result({ Outcome })).status?.edge
    expect(edge?.results).toBeUndefined()
    expect(edge?.late).toHaveLength(1)
  })

  it('takes the result of an unknown end as its truth while the job is open, as late afterwards', () => {
    const unknown = task({ phase: 'Unknown' })
    expect(after(unknown, result()).status?.edge?.results).toHaveLength(1)
    expect(after(unknown, result({ jobClosed: true })).status?.edge?.late).toHaveLength(1)
  })

  it('stores a result of an earlier attempt beside the current one', () => {
    const second = task({ attempt: 2, edge: { attempt: 2, seq: 5, step: 'E3' } })
    const edge = after(second, result({ Outcome: 'RolledBack', LogTail: 'old' })).status?.edge
    expect(edge).toMatchObject({ attempt: 2, seq: 5, step: 'E3', results: [{ attempt: 1 }] })
    expect(edge?.logTail).toBeUndefined()
  })

  it('keeps the end of the log of a failure only, within its bounds and without control characters', () => {
    const LogTail = `${'x'.repeat(9000)}\u001b[31mwhy`
    expect(after(task(), result({ LogTail })).status?.edge?.logTail).toBeUndefined()
    const tail = after(task(), result({ Outcome: 'RolledBack', LogTail })).status?.edge?.logTail
    expect(tail).toHaveLength(8192)
    expect(tail?.endsWith(' [31mwhy')).toBe(true)
  })
})

/** Any message, true or hostile, about attempts 1 to 3. */
const anyMessage: fc.Arbitrary<EdgeMessage> = fc.oneof(
  fc
    .record({
      Attempt: fc.integer({ min: 1, max: 3 }),
      IntentSeq: fc.integer({ min: 0, max: 4 }),
      Value: fc.constantFrom<Answer['Value'][]>('accepted', 'prepared', 'refused', 'done', 'tooLate'),
      Reason: fc.string({ maxLength: 2000 }),
    })
    .map(answer),
  fc
    .record({
      Attempt: fc.integer({ min: 1, max: 3 }),
      Seq: fc.integer({ min: 0, max: 9 }),
      Final: fc.boolean(),
      succ: fc.boolean(),
      action: fc.constantFrom<Progress['action'][]>('Check', 'BackUp', 'Upgrade', 'RollBack'),
      Percent: fc.integer({ min: 0, max: 100 }),
      reason: fc.string({ maxLength: 2000 }),
    })
    .map(progress),
  fc
    .record({
      attempt: fc.integer({ min: 1, max: 3 }),
      Outcome: fc.constantFrom<ResultReport['Outcome'][]>('Succeeded', 'RolledBack', 'Cancelled'),
      RunningVersion: fc.string({ maxLength: 300 }),
      LogTail: fc.string({ maxLength: 9000 }),
    })
    .map(result),
)

describe('laws', () => {
  const start = task({ attempt: 3, intent: { seq: 3, verb: 'prepare' } })

  it('nothing that was stored is ever unsaid, in any order and number of messages', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 60 }), (messages) => {
        let current = start
        for (const message of messages) {
          const next = after(current, message)
          expect(isMonotone(current.status?.edge, next.status?.edge)).toBe(true)
          current = next
        }
      }),
    )
  })

  it('every message is already known once it was taken', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 30 }), anyMessage, (messages, last) => {
        const known = after(start, ...messages)
        expect(decideEdge(after(known, last), last).kind).not.toBe('patch')
      }),
    )
  })

  it('a batch that was stored is known as a whole', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 30 }), (messages) => {
        expect(foldEdge(after(start, ...messages), messages).edge).toBeUndefined()
      }),
    )
  })

  it('a batch comes to the same as its messages one by one, and its patch leads there', () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 30 }), (messages) => {
        const oneByOne = messages.reduce((current, message) => after(current, message), start)
        const { edge } = foldEdge(start, messages)
        expect(edge).toEqual(oneByOne.status?.edge)
        expect(mergePatch({}, edge ?? {})).toEqual(edge ?? {})
      }),
    )
  })

  it('what is stored stays within the bounds of the CRD', () => {
    const bounds = edgeBounds()
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 60 }), (messages) => {
        const edge = after(start, ...messages).status?.edge ?? { attempt: 0, seq: 0 }
        expect(beyond(edge, bounds)).toEqual([])
      }),
    )
  })
})

function isMonotone(before: TaskEdge | undefined, next: TaskEdge | undefined): boolean {
  if (!before) return true
  if (!next) return false
  const kept = (list: readonly unknown[] = [], later: readonly unknown[] = []) => {
    const known = new Set(later.map((entry) => JSON.stringify(entry)))
    return list.every((entry) => known.has(JSON.stringify(entry)))
  }
  return (
    (next.attempt > before.attempt || (next.attempt === before.attempt && next.seq >= before.seq)) &&
    kept(before.results, next.results) &&
    kept(before.late, next.late) &&
    (next.attempt > before.attempt || kept(before.actions, next.actions))
  )
}

interface Bounds {
  maxLength?: number
  maxItems?: number
  items?: Bounds
  properties?: Record<string, Bounds>
}

function edgeBounds(): Bounds {
  const crd = CRDS.find((candidate) => candidate.metadata.name.startsWith('nodeupgradetasks'))
  const schema = crd?.spec.versions[0]?.schema.openAPIV3Schema as unknown as Bounds
  return schema.properties?.['status']?.properties?.['edge'] as Bounds
}

/** The paths of what a schema does not allow. */
function beyond(value: unknown, bounds: Bounds | undefined, path = 'edge'): string[] {
  if (!bounds) return [path]
  if (typeof value === 'string') return value.length <= (bounds.maxLength ?? 0) ? [] : [path]
  if (Array.isArray(value)) {
    const inner = value.flatMap((item, i) => beyond(item, bounds.items, `${path}[${i}]`))
    return value.length <= (bounds.maxItems ?? 0) ? inner : [path, ...inner]
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    beyond(inner, bounds.properties?.[key], `${path}.${key}`),
  )
}
