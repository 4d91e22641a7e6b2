import { ImageStore, startTestRegistry } from '@upgrade-hub/oci/testing'
import { type AgentKind, agentProgram } from '@upgrade-hub/upgrader/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { type EndState, NEW, runScenario } from './testing/scenario.ts'

const STEPS = ['E0', 'E1', 'E2', 'E3', 'E4', 'E4c', 'E5', 'E6', 'E7', 'E8', 'E9', 'E10', 'E11', 'E12']
const INSIDE = ['E5.backedUp', 'E7.file', 'E11.spooled']
const WAY_BACK = ['R5', 'R6', 'R7', 'R8', 'R9']
const around = (steps: readonly string[]) => steps.flatMap((step) => [`${step}.before`, `${step}.after`])
const PARALLEL = 3
const TIMEOUT_MS = 240_000

const table: string[] = []

afterAll(() => {
  process.stdout.write(`\nkill -9 of the updater at a point -> end state\n${table.join('\n')}\n`)
})

/** F01, F03 (a kill instead of a power cut), F25. */
describe('an updater that is killed once and started again', () => {
  it('ends in the new version, whatever the step it dies before or after', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const ends = await sweep('good', [...around(STEPS), ...INSIDE])
    expect(problems(ends)).toEqual([])
    expect(ends.map(([, end]) => end.outcome)).toEqual(ends.map(() => 'Succeeded'))
  })

  it('ends in the old version when the new one is bad, whatever the step of the way back it dies in', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const ends = await sweep('crashes at once', [...around(WAY_BACK), 'R7.file', 'E9.before'])
    expect(problems(ends)).toEqual([])
    expect(ends.map(([, end]) => end.outcome)).toEqual(ends.map(() => 'RolledBack'))
  })
})

async function sweep(kind: AgentKind, points: readonly string[]): Promise<[string, EndState][]> {
  const images = new ImageStore()
  await images.publish(NEW, [{ name: 'usr/local/bin/edgecore', content: agentProgram(NEW, kind) }])
  const registry = await startTestRegistry(images)
  const waiting = [...points]
  const ends: [string, EndState][] = []
  const worker = async () => {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      const end = await runScenario({
        registry: registry.host,
        image: `${registry.host}/team/edge`,
        kind,
        fault,
      })
      ends.push([fault, end])
      table.push(row(kind, fault, end))
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  await registry.stop()
  return ends
}

function row(kind: string, fault: string, { outcome, code, version, starts, broken }: EndState): string {
  const cells = [
    kind.padEnd(16),
    fault.padEnd(12),
    `${outcome}/${code}`.padEnd(24),
    version,
    starts.join(' ').padEnd(24),
  ]
  return [...cells, broken.length === 0 ? 'ok' : broken.join('; ')].join('  ')
}

function problems(ends: readonly [string, EndState][]): string[] {
  return ends.flatMap(([fault, { broken }]) => broken.map((text) => `${fault}: ${text}`))
}
