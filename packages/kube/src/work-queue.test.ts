import { noMetrics, silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts'

const stops: AbortController[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop.abort()
})

function start(reconcile: WorkQueueOptions['reconcile'], more: Partial<WorkQueueOptions> = {}) {
  const clock = new FakeClock()
  const queue = new WorkQueue({ name: 'test', workers: 2, reconcile, clock, log: silentLogger, ...more })
  const stop = new AbortController()
  stops.push(stop)
  return { clock, queue, stop, ended: queue.run(stop.signal) }
}

/** A reconcile that ends when the test says so. */
function held() {
  const running: { key: string; end: () => void; fail: () => void }[] = []
  const reconcile = (key: string) =>
    new Promise<void>((resolve, reject) => {
      running.push({ key, end: resolve, fail: () => reject(new Error('boom')) })
    })
  return { running, reconcile }
}

describe('the work queue', () => {
  it('works off every key, with no more workers than it has', async () => {
    const { running, reconcile } = held()
    const { clock, queue } = start(reconcile)
    for (const key of 'abc') queue.add(key)
    await clock.advance(0)
    expect([running.map((run) => run.key), queue.size]).toEqual([['a', 'b'], 1])
    running[0]?.end()
    await clock.advance(0)
    expect(running.map((run) => run.key)).toEqual(['a', 'b', 'c'])
  })

  it('holds a key that waits once', async () => {
    const seen: string[] = []
    const { queue } = start(async (key) => void seen.push(key), { workers: 1 })
    for (let i = 0; i < 5; i++) queue.add('a')
    await queue.idle()
    expect(seen).toEqual(['a'])
  })

  it('never runs one key twice at once, and runs it again when it was added meanwhile', async () => {
    const { running, reconcile } = held()
    const { clock, queue } = start(reconcile)
    queue.add('a')
    await clock.advance(0)
    queue.add('a')
    queue.add('a')
    await clock.advance(0)
    expect(running).toHaveLength(1)
    running[0]?.end()
    await clock.advance(0)
    expect(running).toHaveLength(2)
    running[1]?.end()
    await queue.idle()
    expect(running).toHaveLength(2)
  })

  it('does not reconcile inside the call of add', () => {
    let ran = false
    const { queue } = start(async () => {
      ran = true
    })
    queue.add('a')
    expect(ran).toBe(false)
  })

  it('tries a key that threw again with growing waits, and the others go on', async () => {
    const at: number[] = []
    const seen: string[] = []
    const { clock, queue } = start(
      async (key) => {
        seen.push(key)
        if (key !== 'bad') return
        at.push(clock.monotonic())
        if (at.length < 6) throw new Error('boom')
      },
      { backoff: { baseMs: 1_000, maxMs: 4_000 } },
    )
    queue.add('bad')
    queue.add('good')
    for (let i = 0; i < 40; i++) await clock.advance(1_000)
    expect(seen.filter((key) => key === 'good')).toHaveLength(1)
    expect(at).toHaveLength(6)
    const waits = at.slice(1).map((time, i) => time - (at[i] ?? 0))
    waits.forEach((wait, i) => expect(wait).toBeLessThanOrEqual(Math.min(4_000, 1_000 * 2 ** i)))
  })

  it('contains a reconcile that throws before its first await', async () => {
    const seen: string[] = []
    const { queue } = start((key) => {
      seen.push(key)
      if (key === 'bad') throw new Error('not even a promise')
      return Promise.resolve()
    })
    queue.add('bad')
    queue.add('good')
    await queue.idle()
    expect(seen).toEqual(['bad', 'good'])
  })

  it('limits the retries of all failing keys together', async () => {
    let runs = 0
    const { clock, queue } = start(
      async () => {
        runs += 1
        throw new Error('boom')
      },
      { workers: 50, backoff: { baseMs: 1, maxMs: 1 } },
    )
    for (let i = 0; i < 500; i++) queue.add(`k${i}`)
    await queue.idle()
    const first = runs
    for (let i = 0; i < 100; i++) await clock.advance(100)
    expect(first).toBe(500)
    expect(runs - first).toBeLessThanOrEqual(100 + 10 * 10 + 1)
    expect(runs - first).toBeGreaterThan(100)
  })

  it('looks at a key again when the reconcile asked for it', async () => {
    const at: number[] = []
    const { clock, queue } = start(async () => {
      at.push(clock.monotonic())
      return at.length === 1 ? { requeueAfterMs: 5_000 } : undefined
    })
    queue.add('a')
    await clock.advance(4_999)
    expect(at).toEqual([0])
    await clock.advance(1)
    await clock.advance(60_000)
    expect(at).toEqual([0, 5_000])
  })

  it('honours the earliest of several delays of one key', async () => {
    const at: number[] = []
    const { clock, queue } = start(async () => void at.push(clock.monotonic()))
    queue.addAfter('a', 3_000)
    queue.addAfter('a', 1_000)
    queue.addAfter('a', 2_000)
    await clock.advance(10_000)
    expect(at).toEqual([1_000])
  })

  it('keeps what was added before it runs', async () => {
    const seen: string[] = []
    const clock = new FakeClock()
    const reconcile = async (key: string) => void seen.push(key)
    const queue = new WorkQueue({
      name: 't',
      workers: 1,
      reconcile,
      clock,
      log: silentLogger,
      metrics: noMetrics,
    })
    queue.add('a')
    queue.addAfter('b', 1_000)
    const stop = new AbortController()
    stops.push(stop)
    void queue.run(stop.signal)
    await clock.advance(1_000)
    expect(seen).toEqual(['a', 'b'])
  })

  it('stops after the reconciles that run have ended, and starts none', async () => {
    const { running, reconcile } = held()
    const { clock, queue, stop, ended } = start(reconcile, { workers: 1 })
    queue.add('a')
    queue.add('b')
    await clock.advance(0)
    stop.abort()
    let hasEnded = false
    void ended.then(() => {
      hasEnded = true
    })
    await clock.advance(0)
    expect(hasEnded).toBe(false)
    running[0]?.fail()
    await ended
    expect(running).toHaveLength(1)
  })

  it('takes 100 000 keys in the order they came, in well under a second', async () => {
    const seen: string[] = []
    const { queue } = start(async (key) => void seen.push(key), { workers: 1 })
    const keys = Array.from({ length: 100_000 }, (_, i) => `k${i}`)
    const startedAt = performance.now()
    for (const key of keys) queue.add(key)
    await queue.idle()
    expect(performance.now() - startedAt).toBeLessThan(3_000)
    expect(seen).toEqual(keys)
  })
})
