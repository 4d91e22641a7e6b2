import { FakeClock } from '@upgrade-hub/core/testing'
import { describe, expect, it } from 'vitest'
import { ServerClock } from './server-clock.ts'

/** A server whose clock differs from the local wall clock by `skewMs`, asked over a network with the given delay. */
async function ask(clock: FakeClock, server: ServerClock, skewMs: number, delayMs = 20): Promise<void> {
  const sentAt = clock.monotonic()
  await clock.advance(delayMs / 2)
  const date = new Date(clock.now() + skewMs).toUTCString()
  await clock.advance(delayMs / 2)
  server.observe(date, sentAt)
}

describe('the clock of the server', () => {
  it('is the local one until the server has said something', () => {
    const clock = new FakeClock()
    const server = new ServerClock(clock)
    expect([server.now(), server.offsetMs()]).toEqual([clock.now(), 0])
  })

  it('is known within a second after one answer, and far better after many', async () => {
    const clock = new FakeClock()
    const server = new ServerClock(clock)
    await ask(clock, server, 7_300)
    expect(Math.abs(server.offsetMs() - 7_300)).toBeLessThan(600)
    for (let i = 0; i < 50; i++) {
      await clock.advance(137)
      await ask(clock, server, 7_300)
    }
    expect(Math.abs(server.offsetMs() - 7_300)).toBeLessThan(80)
  })

  it('does not move with a jump of the local clock, whose offset shows at once', async () => {
    const clock = new FakeClock()
    const server = new ServerClock(clock)
    await ask(clock, server, 0)
    const before = server.now()
    clock.jumpWall(60_000)
    expect(server.now()).toBe(before)
    expect(Math.abs(server.offsetMs() + 60_000)).toBeLessThan(600)
  })

  it('is learned anew when the server was set to another time', async () => {
    const clock = new FakeClock()
    const server = new ServerClock(clock)
    for (let i = 0; i < 20; i++) await ask(clock, server, 0, 150)
    await ask(clock, server, -30_000)
    expect(Math.abs(server.offsetMs() + 30_000)).toBeLessThan(700)
  })

  it('does not believe what is no date', async () => {
    const clock = new FakeClock()
    const server = new ServerClock(clock)
    server.observe('yesterday', 0)
    expect(server.offsetMs()).toBe(0)
  })
})
