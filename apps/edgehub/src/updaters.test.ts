import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import type { AttemptStore } from '@upgrade-hub/upgrader'
import { beforeEach, describe, expect, it } from 'vitest'
import { answerOf, viewOf } from './testing/views.ts'
import { Updaters } from './updaters.ts'

let clock: FakeClock
let isAlive: boolean
let launched: number
let fails: boolean
let updaters: Updaters
beforeEach(() => {
  clock = new FakeClock()
  isAlive = false
  launched = 0
  fails = false
  updaters = new Updaters({
    store: { isUpdaterAlive: () => Promise.resolve(isAlive) } as unknown as AttemptStore,
    launch: () => {
      launched += 1
      return fails ? Promise.reject(new Error('no more processes')) : Promise.resolve()
    },
    clock,
    log: silentLogger,
  })
})

const working = viewOf({ needsUpdater: true, phase: 'preparing', answer: answerOf('accepted') })

describe('Updaters', () => {
  it('start one for an attempt with work and nobody at it', async () => {
    await updaters.ensure(viewOf())
    isAlive = true
    await updaters.ensure(working)
    expect(launched).toBe(0)
    isAlive = false
    await updaters.ensure(working)
    expect(launched).toBe(1)
  })

  it('start the next ever later while nothing gets on, a minute at most', async () => {
    const at: number[] = []
    for (let ms = 0; ms < 400_000; ms += 500) {
      const before = launched
      await updaters.ensure(working)
      if (launched > before) at.push(clock.monotonic() / 1000)
      await clock.advance(500)
    }
    expect(at).toEqual([0, 10, 30, 70, 130, 190, 250, 310, 370])
  })

  it('start at once when the attempt got on or the hub wants something new', async () => {
    await updaters.ensure(working)
    await updaters.ensure({ ...working, lastSeq: 6 })
    await updaters.ensure({ ...working, lastSeq: 6, answer: answerOf('accepted', 2) })
    expect(launched).toBe(3)
  })

  it('try again after a start that failed', async () => {
    fails = true
    await updaters.ensure(working)
    await clock.advance(10_000)
    await updaters.ensure(working)
    expect(launched).toBe(2)
  })
})
