import { FakeClock } from '@upgrade-hub/core/testing'
import type { HealthProbe } from '@upgrade-hub/protocol'
import { describe, expect, it } from 'vitest'
import { ProbeWatch } from './probe-watch.ts'

const TCP: HealthProbe = { tcpSocket: { port: 80 } }

/** Looks every second; says at which second it was ready, or what it threw. */
async function follow(
  probe: HealthProbe,
  answers: readonly boolean[],
): Promise<{ asked: number[]; end: number | string }> {
  const clock = new FakeClock()
  const asked: number[] = []
  const seconds = () => clock.monotonic() / 1000
  const watch = new ProbeWatch([probe], clock, () => {
    const isFine = answers[asked.push(seconds()) - 1] ?? answers.at(-1)
    return Promise.resolve(isFine ? undefined : 'no answer')
  })
  try {
    for (; seconds() < 100; await clock.advance(1000)) {
      await watch.look()
      if (watch.isReady) return { asked, end: seconds() }
    }
    return { asked, end: 'never' }
  } catch (error) {
    return { asked, end: (error as Error).message }
  }
}

describe('a probe', () => {
  it.each<[string, HealthProbe, boolean[], { asked: number[]; end: number | string }]>([
    ['is asked at once and is ready when it is fine', TCP, [true], { asked: [0], end: 0 }],
    ['waits for its initial delay', { ...TCP, initialDelaySeconds: 5 }, [true], { asked: [5], end: 5 }],
    ['is asked every ten seconds by default', TCP, [false, true], { asked: [0, 10], end: 10 }],
    ['is asked as often as it says', { ...TCP, periodSeconds: 2 }, [false, true], { asked: [0, 2], end: 2 }],
    [
      'must be fine as often in a row as it says',
      { ...TCP, periodSeconds: 1, successThreshold: 2 },
      [true, false, true, true],
      { asked: [0, 1, 2, 3], end: 3 },
    ],
    [
      'gives up after three failures by default',
      { ...TCP, periodSeconds: 1 },
      [false],
      { asked: [0, 1, 2], end: 'probe tcp 127.0.0.1:80 failed 3 times: no answer' },
    ],
    [
      'counts failures in a row only',
      { ...TCP, periodSeconds: 1, failureThreshold: 2, successThreshold: 2 },
      [false, true, false, true, true],
      { asked: [0, 1, 2, 3, 4], end: 4 },
    ],
  ])('%s', async (_, probe, answers, expected) => {
    expect(await follow(probe, answers)).toEqual(expected)
  })

  it('that is not there keeps nobody waiting', () => {
    expect(new ProbeWatch([], new FakeClock(), () => Promise.resolve('never asked')).isReady).toBe(true)
  })
})
