import { FakeClock } from '@upgrade-hub/core/testing'
import { describe, expect, it } from 'vitest'
import { Renewing } from './renewing.ts'

function counted(clock: FakeClock, life: { refreshInMs: number; expiresInMs?: number }) {
  const state = { loads: 0, fail: false, errors: 0 }
  const renewing = new Renewing<string>({
    clock,
    load: async () => {
      state.loads += 1
      await clock.sleep(10)
      if (state.fail) throw new Error('no luck')
      return { value: `v${state.loads}`, ...life }
    },
    onRefreshError: () => {
      state.errors += 1
    },
  })
  return { renewing, state }
}

async function settled<T>(clock: FakeClock, value: T | Promise<T>): Promise<T> {
  await clock.advance(10)
  return value
}

describe('a renewed value', () => {
  it('is loaded once for all who ask at the same time', async () => {
    const clock = new FakeClock()
    const { renewing, state } = counted(clock, { refreshInMs: 1_000 })
    const asked = Promise.all(Array.from({ length: 20 }, async () => renewing.current()))
    expect(new Set(await settled(clock, asked))).toEqual(new Set(['v1']))
    expect(state.loads).toBe(1)
  })

  it('is refreshed before it expires, while the old one serves', async () => {
    const clock = new FakeClock()
    const { renewing, state } = counted(clock, { refreshInMs: 800, expiresInMs: 1_000 })
    await settled(clock, renewing.current())
    await clock.advance(850)
    expect(renewing.current()).toBe('v1')
    await clock.advance(10)
    expect([renewing.current(), state.loads]).toEqual(['v2', 2])
  })

  it('is waited for when it has expired', async () => {
    const clock = new FakeClock()
    const { renewing } = counted(clock, { refreshInMs: 800, expiresInMs: 1_000 })
    await settled(clock, renewing.current())
    await clock.advance(2_000)
    expect(await settled(clock, renewing.current())).toBe('v2')
  })

  it('serves on while refreshes fail, which are spaced', async () => {
    const clock = new FakeClock()
    const { renewing, state } = counted(clock, { refreshInMs: 1_000 })
    await settled(clock, renewing.current())
    state.fail = true
    await clock.advance(1_000)
    for (let i = 0; i < 20; i++) {
      expect(renewing.current()).toBe('v1')
      await clock.advance(100)
    }
    expect(state.loads).toBe(2)
    state.fail = false
    await clock.advance(5_000)
    void renewing.current()
    await clock.advance(10)
    expect(renewing.current()).toBe('v3')
  })

  it('fails without a load for a while after a load that failed', async () => {
    const clock = new FakeClock()
    const { renewing, state } = counted(clock, { refreshInMs: 1_000 })
    state.fail = true
    await expect(settled(clock, Promise.resolve(renewing.current()).catch(String))).resolves.toContain(
      'no luck',
    )
    await expect(renewing.current()).rejects.toThrow('no luck')
    expect(state.loads).toBe(1)
  })

  it('is loaded anew after it was refused, but not over and over', async () => {
    const clock = new FakeClock()
    const { renewing, state } = counted(clock, { refreshInMs: 100_000 })
    const first = await settled(clock, renewing.current())
    expect(renewing.reject(first)).toBe(false)
    await clock.advance(5_000)
    expect(renewing.reject(first)).toBe(true)
    const second = await settled(clock, renewing.current())
    expect([second, renewing.reject(first), renewing.reject(second), state.loads]).toEqual([
      'v2',
      true,
      false,
      2,
    ])
  })
})
