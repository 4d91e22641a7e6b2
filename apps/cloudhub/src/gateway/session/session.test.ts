import type { TaskStatus } from '@upgrade-hub/api'
import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import type { Frame, OpenAttempt } from '@upgrade-hub/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { HttpError } from '../../errors.ts'
import { RateLimiter } from '../../http/rate-limit.ts'
import { TASKS } from '../../kube-api.ts'
import { FakeKube, failure } from '../../testing/fake-kube.ts'
import { makeAnswer, makeProgress, makeResult, makeTask } from '../../testing/tasks.ts'
import type { ResultOutcome } from '../routes/results.ts'
import { converse } from './edge-conversation.ts'
import { judgeOpen } from './open-attempts.ts'
import { verdictOf } from './verdicts.ts'

const open = (over: Partial<OpenAttempt> = {}): OpenAttempt => ({
  task: 'job-abc',
  taskUID: 'uid-of-job-abc',
  attempt: 1,
  step: 'E4',
  ...over,
})

describe('verdictOf', () => {
  it.each<[string, Partial<TaskStatus>]>([
    ['continue', { phase: 'Pending' }],
    ['continue', { phase: 'InProgress', intent: { seq: 2, verb: 'cancel' } }],
    ['abort', { phase: 'Unknown' }],
    ['abort', { phase: 'Cancelled' }],
    ['abort', { phase: 'Successful' }],
    ['abort', { attempt: 2 }],
    ['abort', { edge: { attempt: 1, seq: 1, results: [{ attempt: 1 }] } }],
    ['unknown', { attempt: 0 }],
  ])('is %s for a task that stands at %j', (verdict, status) => {
    expect(verdictOf(open(), makeTask(status))).toBe(verdict)
  })

  it('is abort for a task that is gone, or another of its name', () => {
    expect(verdictOf(open(), undefined)).toBe('abort')
    expect(verdictOf(open({ taskUID: 'other' }), makeTask())).toBe('abort')
  })
})

describe('judgeOpen', () => {
  const kube = () => new FakeKube()
  const judge = (client: FakeKube, cached: boolean, ...attempts: OpenAttempt[]) =>
    judgeOpen(
      { nodeName: 'n1', open: attempts },
      {
        client,
        cache: { get: (name) => (cached ? client.peek(TASKS, name) : undefined) },
        log: silentLogger,
      },
    )

  it('asks nobody when the cache knows all, or nothing is open', async () => {
    const client = kube()
    client.put(TASKS, makeTask())
    expect(await judge(client, true, open())).toEqual([{ task: 'job-abc', attempt: 1, verdict: 'continue' }])
    expect(await judge(client, false)).toEqual([])
    expect(client.calls).toEqual([])
  })

  it('asks once for all that the cache does not know', async () => {
    const client = kube()
    client.put(TASKS, makeTask({ phase: 'Cancelled' }))
    const verdicts = await judge(client, false, open(), open({ task: 'gone' }))
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['abort', 'abort'])
    expect(client.calls).toEqual([{ verb: 'list', plural: 'nodeupgradetasks', name: '' }])
  })

  it('says unknown while nobody can be asked', async () => {
    const client = kube()
    client.before = () => {
      throw failure('KUBE_UNREACHABLE', 0)
    }
    expect(await judge(client, false, open())).toEqual([{ task: 'job-abc', attempt: 1, verdict: 'unknown' }])
  })
})

describe('converse', () => {
  let sent: { operation: string; content: unknown; parentId: string | undefined }[]
  let heard: string[]
  let say: (frame: Partial<Frame>) => void
  let outcome: () => Promise<ResultOutcome>

  beforeEach(() => {
    sent = []
    heard = []
    outcome = () => Promise.resolve({ kind: 'stored' })
    const clock = new FakeClock()
    converse({
      session: {
        nodeName: 'n1',
        probe: { version: 'v1.1.0', bootID: 'boot' },
        hello: { edgeVersion: '0.1.0', node: { timeZone: 'Asia/Tokyo' } },
        onFrame: (listener: (frame: Frame) => void) => {
          say = (frame) => listener({ operation: '', resource: '', content: {}, msgId: 'm1', ...frame })
        },
        send: (operation: string, _: string, content: unknown, options?: { parentId?: string }) =>
          sent.push({ operation, content, parentId: options?.parentId }) > 0,
      } as never,
      intents: { acknowledge: (task: string, seq: number) => heard.push(`ack ${task} ${seq}`) } as never,
      reports: {
        answer: (_, body, timeZone) => heard.push(`answer ${body.Value} ${timeZone}`),
        progress: (_, body) => heard.push(`progress ${body.Step}`),
        result: (node, task, report) => {
          heard.push(`result ${node} ${task} ${report.attempt} ${report.Outcome} ${report.probe?.version}`)
          return outcome()
        },
      },
      serverNow: () => clock.now(),
      results: new RateLimiter({ perSecond: 2, burst: 20 }, clock),
      log: silentLogger,
    })
  })

  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const { attempt: _, ...result } = makeResult().body

  it('hands answers and progress on, and knows that the intent has arrived', () => {
    say({ operation: 'answer', content: makeAnswer().body })
    say({ operation: 'UpdateNodeActionStatus', content: makeProgress().body })
    expect(heard).toEqual(['ack job-abc 1', 'answer prepared Asia/Tokyo', 'progress E2'])
  })

  it('says stored once a result is, with the probe of the session beside it', async () => {
    say({ operation: 'result', content: result })
    await settle()
    expect(heard).toEqual(['result n1 job-abc 1 Succeeded v1.1.0'])
    expect(sent).toEqual([{ operation: 'stored', content: { HistoryID: 'job-abc.1' }, parentId: 'm1' }])
  })

  it('says why a result is refused for good', async () => {
    outcome = () => Promise.resolve({ kind: 'refused', code: 'UNKNOWN_TASK', message: 'no such task' })
    say({ operation: 'result', content: result })
    say({ operation: 'result', content: { ...result, HistoryID: 'nonsense' } })
    await settle()
    expect(sent.map(({ content }) => content)).toEqual(
      expect.arrayContaining([
        { code: 'UNKNOWN_TASK', message: 'no such task' },
        { code: 'MALFORMED', message: 'HistoryID must be {task}.{attempt}' },
      ]),
    )
  })

  it('says nothing while it is not known whether a result is stored: the edge sends it again', async () => {
    outcome = () => Promise.reject(failure('KUBE_UNKNOWN_OUTCOME', 504))
    say({ operation: 'result', content: result })
    await settle()
    outcome = () => Promise.reject(new HttpError(503, 'STOPPING', 'this hub stops'))
    say({ operation: 'result', content: result })
    await settle()
    expect(heard).toHaveLength(2)
    expect(sent).toEqual([])
  })

  it('takes a flood of results only so fast', async () => {
    for (let i = 0; i < 1_000; i++) say({ operation: 'result', content: result })
    await settle()
    expect(heard).toHaveLength(20)
  })

  it('ignores what only a hub says', () => {
    say({ operation: 'proceed', content: {} })
    expect([heard, sent]).toEqual([[], []])
  })
})
