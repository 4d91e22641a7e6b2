import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { noMetrics, silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { failure } from '../../testing/fake-kube.ts'
import { makeAnswer, makeProgress, makeResult, makeTask } from '../../testing/tasks.ts'
import type { EdgeMessage } from '../edge-status/decision.ts'
import { Reports } from './reports.ts'

let clock: FakeClock
let written: { at: number; kinds: string[] }[]
let fault: Error | undefined
let reports: Reports
const tasks = new Map<string, NodeUpgradeTask>([['job-abc', makeTask()]])

beforeEach(() => {
  clock = new FakeClock()
  written = []
  fault = undefined
  const write = async (_: string, messages: readonly EdgeMessage[]) => {
    if (fault) throw fault
    written.push({ at: clock.monotonic(), kinds: messages.map(describeMessage) })
    return messages.map(() => ({ kind: 'already' }) as const)
  }
  reports = new Reports({ writer: { write }, cache: tasks, clock, log: silentLogger, metrics: noMetrics })
})

function describeMessage(message: EdgeMessage): string {
  if (message.kind === 'answer') return message.body.Value
  return message.kind === 'progress' ? `${message.body.Step}${message.body.Final ? '!' : ''}` : 'result'
}

const progress = (over: object) => reports.progress('n1', makeProgress(over).body)
const answer = (Value: 'accepted' | 'prepared') => reports.answer('n1', makeAnswer({ Value }).body)

describe('Reports', () => {
  it('stores the last word at once and takes everything that waits along', async () => {
    answer('accepted')
    progress({ Step: 'E2' })
    answer('prepared')
    await clock.advance(0)
    expect(written).toEqual([{ at: 0, kinds: ['accepted', 'E2!', 'prepared'] }])
    await clock.advance(60_000)
    expect(written).toHaveLength(1)
  })

  it('writes no progress in the first ten seconds of a phase', async () => {
    progress({ Step: 'E2', Final: true })
    await clock.advance(9_999)
    expect(written).toEqual([])
    await clock.advance(1)
    expect(written).toEqual([{ at: 10_000, kinds: ['E2!'] }])
  })

  it('tells that the edge works when preparing takes longer than ten seconds', async () => {
    answer('accepted')
    await clock.advance(10_000)
    expect(written).toEqual([{ at: 10_000, kinds: ['accepted'] }])
  })

  it('writes a long download at most every ten seconds, with its newest number', async () => {
    for (let second = 0; second < 60; second++) {
      progress({ Step: 'E3', Final: false, Percent: second })
      await clock.advance(1_000)
    }
    expect(written.map(({ kinds }) => kinds)).toEqual(written.map(() => ['E3']))
    expect(written.length).toBeLessThanOrEqual(6)
    for (const [i, { at }] of written.entries())
      expect(at - (written[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(10_000)
  })

  it('says `stored` of a result only when it is', async () => {
    const outcome = reports.result('n1', 'job-abc', makeResult().body)
    await clock.advance(0)
    expect(await outcome).toEqual({ kind: 'stored' })
  })

  it('rejects a result that cannot be stored now, and keeps what was said before it', async () => {
    fault = failure('KUBE_UNREACHABLE', 0)
    progress({ Step: 'E7', Final: true })
    const outcome = reports.result('n1', 'job-abc', makeResult().body)
    await expect(outcome).rejects.toMatchObject({ code: 'KUBE_UNREACHABLE' })
    fault = undefined
    await clock.advance(60_000)
    expect(written.map(({ kinds }) => kinds)).toEqual([['E7!']])
  })

  it('tries an answer again until the API server is back', async () => {
    fault = failure('KUBE_UNREACHABLE', 0)
    answer('prepared')
    await clock.advance(5_000)
    fault = undefined
    await clock.advance(60_000)
    expect(written.map(({ kinds }) => kinds)).toEqual([['prepared']])
  })

  it('writes one task one at a time', async () => {
    const release = Promise.withResolvers<void>()
    let atOnce = 0
    let most = 0
    const write = async (_: string, messages: readonly EdgeMessage[]) => {
      most = Math.max(most, ++atOnce)
      await release.promise
      atOnce--
      return messages.map(() => ({ kind: 'already' }) as const)
    }
    reports = new Reports({ writer: { write }, cache: tasks, clock, log: silentLogger, metrics: noMetrics })
    const all = Array.from({ length: 5 }, () => reports.result('n1', 'job-abc', makeResult().body))
    release.resolve()
    await Promise.all(all)
    expect(most).toBe(1)
  })

  it('drops what is said of a task that is not active, not of the node, or another of that name', async () => {
    reports.answer('n1', makeAnswer({}, 'gone').body)
    reports.answer('n2', makeAnswer().body)
    reports.answer('n1', makeAnswer({ TaskUID: 'other' }).body)
    reports.progress('n1', makeProgress({ Task: 'gone' }).body)
    await clock.advance(60_000)
    expect(written).toEqual([])
    expect(reports.size).toBe(0)
  })

  it('forgets a task when nothing waits, and holds a bounded number of messages of one that floods', async () => {
    fault = failure('KUBE_UNREACHABLE', 0)
    for (let i = 0; i < 10_000; i++) progress({ Step: 'E3', Seq: i, Final: true })
    fault = undefined
    await clock.advance(120_000)
    expect(written.flatMap(({ kinds }) => kinds).length).toBeLessThanOrEqual(64)
    expect(reports.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('rejects what waits when the hub stops, so that the edge posts it elsewhere', async () => {
    const release = Promise.withResolvers<void>()
    const write = async (_: string, messages: readonly EdgeMessage[]) => {
      await release.promise
      return messages.map(() => ({ kind: 'already' }) as const)
    }
    reports = new Reports({ writer: { write }, cache: tasks, clock, log: silentLogger, metrics: noMetrics })
    const first = reports.result('n1', 'job-abc', makeResult().body)
    const second = reports.result('n1', 'job-abc', makeResult().body)
    reports.stop()
    await expect(second).rejects.toMatchObject({ code: 'STOPPING' })
    release.resolve()
    expect(await first).toEqual({ kind: 'stored' })
  })
})
