import { describe, expect, it } from 'vitest'
import { simulate, type Weather } from './scenario.ts'

const CALM: Weather = { faults: false, crashes: false, edges: false, people: false }
const STORM: Weather = { faults: true, crashes: true, edges: true, people: true }

/** One seed alone: SIM_SEED=123; more of them: SIM_RUNS=10000. */
const only = process.env['SIM_SEED']
const runs = Number(process.env['SIM_RUNS'] ?? 60)

function seeds(from: number): number[] {
  return only ? [Number(only)] : Array.from({ length: runs }, (_, index) => from + index)
}

/** What a run breaks, with its seed and what came before; empty for a good one. */
function story(seed: number, weather: Weather): string {
  const { world } = simulate(seed, weather)
  if (world.broken.length === 0) return ''
  const at = world.log.findIndex((line) => line.includes('BROKEN'))
  const lines = world.log.slice(Math.max(0, at - 60), at + 5).join('\n')
  return `seed ${seed} breaks a rule: ${world.broken.join('; ')}\n${lines}`
}

describe('a simulated rollout', () => {
  it.each([
    ['in calm weather', CALM],
    [
      'over a channel that loses, doubles and reorders, with an API that fails and loses answers',
      { ...CALM, faults: true },
    ],
    ['with a hub that is killed again and again', { ...CALM, crashes: true }],
    ['with nodes that crash and lose their network', { ...CALM, edges: true }],
    ['with people who pause, cordon, tear marks and delete', { ...CALM, people: true }],
    ['with all of it at once', STORM],
  ])(
    'keeps every invariant %s',
    (_, weather) => {
      for (const seed of seeds(1)) expect(story(seed, weather)).toBe('')
    },
    600_000,
  )
})
