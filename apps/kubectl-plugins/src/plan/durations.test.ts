import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { aJob, aTask, time } from '@upgrade-hub/rollout/testing'
import { describe, expect, it } from 'vitest'
import { durationsOf, limitsOfTime } from './durations.ts'

/** Begun at 0, ended at `end` s; by its own clock, which is an hour off, the upgrade took `upgrade` s. */
function done(name: string, end: number, upgrade?: number): NodeUpgradeTask {
  const edge = {
    attempt: 1,
    seq: 9,
    actions: [
      { action: 'BackUp', succ: true, time: time(3_600) },
      ...(upgrade === undefined ? [] : [{ action: 'Upgrade', succ: true, time: time(3_600 + upgrade) }]),
    ],
  }
  return aTask(
    { phase: 'Successful', attempt: 1, startTime: time(0), completionTime: time(end), edge },
    aJob(),
    name,
  )
}

describe('measured durations', () => {
  it('are those of the node that waited for nobody, divided by its own clock', () => {
    expect(durationsOf([[done('a', 60, 28), done('b', 200, 30), done('c', 300, 90)]])).toEqual({
      prepareMs: 28_000,
      proceedMs: 32_000,
      nodes: 3,
    })
  })

  it('are the half each where the node said nothing', () => {
    expect(durationsOf([[done('a', 60)]])).toEqual({ prepareMs: 28_000, proceedMs: 32_000, nodes: 1 })
  })

  it('are none without an upgrade that went well', () => {
    expect(durationsOf([])).toBeUndefined()
    expect(durationsOf([[aTask({ phase: 'Successful' })]])).toBeUndefined()
  })
})

describe('the limits of time', () => {
  it('are the stages of the two phases', () => {
    expect(limitsOfTime(aJob({ timeoutSeconds: 100 }))).toEqual({ prepareMs: 110_000, proceedMs: 340_000 })
  })
})
