import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import type { Result } from '@upgrade-hub/protocol'
import type { PostOutcome, Spool } from '@upgrade-hub/upgrader'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ResultLoop } from './results.ts'

let clock: FakeClock
let waiting: string[]
let rejected: string[]
let posts: { id: string; at: number }[]
let frames: string[]
let outcome: PostOutcome
let isConnected: boolean
let loop: ResultLoop
let stop: AbortController
let running: Promise<void>

beforeEach(async () => {
  clock = new FakeClock()
  waiting = []
  rejected = []
  posts = []
  frames = []
  outcome = { kind: 'stored' }
  isConnected = false
  const remove = (id: string) => {
    waiting = waiting.filter((other) => other !== id)
    return Promise.resolve()
  }
  const spool = {
    oldest: () => Promise.resolve(waiting[0] && { id: waiting[0], result: resultOf(waiting[0]) }),
    remove,
    reject: (id: string, why: string) => {
      rejected.push(`${id}: ${why}`)
      return remove(id)
    },
  } as unknown as Spool
  loop = new ResultLoop({
    spool,
    post: ({ HistoryID }) => {
      posts.push({ id: HistoryID, at: clock.monotonic() })
      return Promise.resolve(outcome)
    },
    send: (_, __, { HistoryID }) => {
      if (isConnected) frames.push(HistoryID)
      return isConnected
    },
    clock,
    log: silentLogger,
  })
  stop = new AbortController()
  running = loop.run(stop.signal)
  await clock.advance(0)
})
afterEach(async () => {
  stop.abort()
  await running
})

function resultOf(HistoryID: string): Result {
  const versions = { FromVersion: 'v1.0.0', ToVersion: 'v1.1.0' }
  return { UpgradeID: 'job', HistoryID, NodeName: 'edge-1', ...versions, Status: '', Reason: '' }
}

async function spool(...ids: string[]): Promise<void> {
  waiting.push(...ids)
  loop.poke()
  await clock.advance(0)
}

describe('ResultLoop', () => {
  it('delivers what waits, oldest first, and looks by itself for more', async () => {
    await spool('a.1', 'b.1')
    expect(posts.map(({ id }) => id)).toEqual(['a.1', 'b.1'])
    expect(waiting).toEqual([])
    waiting.push('c.1')
    await clock.advance(30_000)
    expect(waiting).toEqual([])
  })

  it('sets aside what is refused for good and goes on', async () => {
    outcome = { kind: 'rejected', status: 403, why: 'not yours' }
    await spool('a.1', 'b.1')
    expect(rejected).toEqual(['a.1: 403 not yours', 'b.1: 403 not yours'])
  })

  it('tries for ever, never faster than it may and at least every five minutes', async () => {
    outcome = { kind: 'retry', why: 'HTTP 503' }
    await spool('a.1')
    await clock.advance(24 * 3_600_000)
    const gaps = posts.slice(1).map(({ at }, i) => at - (posts[i]?.at ?? 0))
    expect(Math.max(...gaps)).toBeLessThanOrEqual(300_000)
    expect(gaps.length).toBeGreaterThan(24 * 12)
    expect(gaps.length).toBeLessThan(24 * 12 * 4)
    expect(waiting).toEqual(['a.1'])
  })

  it('waits as long as the hub asks', async () => {
    outcome = { kind: 'retry', why: 'HTTP 503', afterMs: 120_000 }
    await spool('a.1')
    await clock.advance(119_999)
    expect(posts).toHaveLength(1)
    await clock.advance(1)
    expect(posts).toHaveLength(2)
  })

  it('uses the session when HTTPS fails, and is content with `stored` only', async () => {
    outcome = { kind: 'retry', why: 'ECONNREFUSED' }
    isConnected = true
    await spool('a.1')
    expect(frames).toEqual(['a.1'])
    await clock.advance(15_000)
    expect(waiting).toEqual(['a.1'])
    await clock.advance(1_000)
    expect(frames).toEqual(['a.1', 'a.1'])
    await loop.onStored('a.1')
    await clock.advance(0)
    expect(waiting).toEqual([])
  })

  it('does not sit out its wait when there is a new session', async () => {
    outcome = { kind: 'retry', why: 'HTTP 503', afterMs: 300_000 }
    await spool('a.1')
    outcome = { kind: 'stored' }
    loop.poke()
    await clock.advance(0)
    expect(waiting).toEqual([])
  })
})
