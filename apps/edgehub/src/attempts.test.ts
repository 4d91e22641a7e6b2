import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import type { TaskRef } from '@upgrade-hub/protocol'
import type { AttemptStore, AttemptView } from '@upgrade-hub/upgrader'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AttemptLoop } from './attempts.ts'
import { Reporter } from './reporter.ts'
import { answerOf, viewOf } from './testing/views.ts'
import { Updaters } from './updaters.ts'

let clock: FakeClock
let views: Map<string, AttemptView>
let reads: number
let launched: string[]
let sent: string[]
let cancelled: TaskRef[]
let ended: number
let isBroken: boolean
let loop: AttemptLoop
let stop: AbortController
let running: Promise<void>

beforeEach(() => {
  clock = new FakeClock()
  views = new Map()
  reads = 0
  launched = []
  sent = []
  cancelled = []
  ended = 0
  isBroken = false
  const store = {
    attempts: () => {
      if (isBroken) return Promise.reject(new Error('EIO'))
      reads += views.size
      return Promise.resolve([...views.values()])
    },
    attempt: (id: string) => {
      reads += 1
      return Promise.resolve(views.get(id))
    },
    isUpdaterAlive: () => Promise.resolve(false),
    download: () => Promise.resolve(undefined),
    prune: () => Promise.resolve(),
    cancel: (ref: TaskRef) => {
      cancelled.push(ref)
      return Promise.resolve(answerOf('done'))
    },
  } as unknown as AttemptStore
  const launch = (id: string) => {
    launched.push(id)
    return Promise.resolve()
  }
  loop = new AttemptLoop({
    store,
    updaters: new Updaters({ store, launch, clock, log: silentLogger }),
    reporter: new Reporter('edge-1', (_, __, content) => {
      sent.push('Value' in content ? content.Value : content.action)
      return true
    }),
    onEnded: () => {
      ended += 1
    },
    clock,
    log: silentLogger,
  })
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await running
})

function start(): Promise<void> {
  running = loop.run(stop.signal)
  return clock.advance(0)
}

function put(view: AttemptView): void {
  views.set(view.id, view)
}

const open = viewOf({ phase: 'preparing', step: 'E2', needsUpdater: true, answer: answerOf('accepted') })

describe('AttemptLoop', () => {
  it('takes up what it finds at its start', async () => {
    put(open)
    await start()
    expect(launched).toEqual(['task.1'])
  })

  it('wakes for an intent, then follows the attempt four times a second until it rests', async () => {
    await start()
    put(open)
    await clock.advance(1_000)
    expect(launched).toEqual([])
    loop.poke()
    await clock.advance(0)
    expect(launched).toEqual(['task.1'])
    put(viewOf({ answer: answerOf('prepared'), lastSeq: 9 }))
    await clock.advance(250)
    expect(sent).toEqual(['prepared'])
    const before = reads
    await clock.advance(9_999)
    expect(reads).toBe(before)
  })

  it('says once that an attempt ended, and reads it no more while another one is busy', async () => {
    put(open)
    await start()
    put(viewOf({ phase: 'ended', step: 'ended', lastSeq: 20, answer: answerOf('done', 2) }))
    put({ ...open, id: 'task.2' })
    loop.poke()
    await clock.advance(0)
    expect({ ended, sent }).toEqual({ ended: 1, sent: ['done'] })
    reads = 0
    await clock.advance(250)
    expect(reads).toBe(1)
    expect(ended).toBe(1)
  })

  it('says nothing of what had ended before its start but that a result may wait', async () => {
    put(viewOf({ phase: 'ended', step: 'ended', answer: answerOf('done', 2) }))
    await start()
    expect({ ended, sent }).toEqual({ ended: 1, sent: [] })
  })

  it('cancels what a welcome ends, and nothing else', async () => {
    put(viewOf())
    put(viewOf({ id: 'task.2', attempt: 2, nodeUID: 'other' }))
    put(viewOf({ id: 'task.3', attempt: 3, nodeUID: 'other', pastStop: true }))
    put(viewOf({ id: 'task.4', attempt: 4 }))
    await start()
    await loop.welcome({
      heartbeatSeconds: 15,
      nodeUID: 'node-uid',
      open: [
        { task: 'task', attempt: 1, verdict: 'unknown' },
        { task: 'task', attempt: 4, verdict: 'abort' },
      ],
      limits: { maxFrameBytes: 262_144 },
    })
    expect(cancelled.map(({ Attempt }) => Attempt)).toEqual([2, 4])
    await loop.welcome({ heartbeatSeconds: 15, nodeUID: '', open: [], limits: { maxFrameBytes: 262_144 } })
    expect(cancelled).toHaveLength(2)
  })

  it('goes on when the disk fails for a while', async () => {
    isBroken = true
    await start()
    isBroken = false
    put(open)
    await clock.advance(10_000)
    expect(launched).toEqual(['task.1'])
  })
})
