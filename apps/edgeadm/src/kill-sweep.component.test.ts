import { ImageStore, startTestRegistry } from '@upgrade-hub/oci/testing'
import { type AgentKind, agentProgram } from '@upgrade-hub/upgrader/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { type EndState, type Faults, NEW, runScenario } from './testing/scenario.ts'

const around = (steps: readonly string[]) => steps.flatMap((step) => [`${step}.before`, `${step}.after`])
const PREPARE = around(['E0', 'E1', 'E2', 'E3', 'E4', 'E4c'])
const PROCEED = [
  ...around(['E5', 'E6', 'E7', 'E8', 'E9', 'E10', 'E11', 'E12']),
  ...['E5.backedUp', 'E7.file', 'E11.spooled'],
]
const WAY_BACK = [...around(['R5', 'R6', 'R7', 'R8', 'R9']), 'R7.file', 'E9.before']
const PARALLEL = 3
/** Two minutes where nothing else runs; these are a hundred processes. */
const TIMEOUT_MS = 900_000

const table: string[] = []

afterAll(() => {
  process.stdout.write(`\nkill -9 of the updater at a point -> end state\n${table.sort().join('\n')}\n`)
})

/** F01, F03 (a kill instead of a power cut), F25. */
describe('an updater that is killed and started again', { timeout: TIMEOUT_MS }, () => {
  it('ends in the new version, whatever the steps it dies before or after', async () => {
    // One upgrade can die once in each half, so a run covers two points.
    const faults = PROCEED.map((proceed, at): Faults => {
      const prepare = PREPARE[at]
      return prepare === undefined ? { proceed } : { prepare, proceed }
    })
    const ends = await sweep('good', faults)
    expect(ends.flatMap(({ broken }) => broken)).toEqual([])
    expect(ends.map(({ outcome }) => outcome)).toEqual(faults.map(() => 'Succeeded'))
  })

  it('ends in the old version when the new one is bad, whatever the step of the way back it dies in', async () => {
    const faults = WAY_BACK.map((proceed) => ({ proceed }))
    const ends = await sweep('crashes at once', faults)
    expect(ends.flatMap(({ broken }) => broken)).toEqual([])
    expect(ends.map(({ outcome }) => outcome)).toEqual(faults.map(() => 'RolledBack'))
  })
})

async function sweep(kind: AgentKind, faults: readonly Faults[]): Promise<EndState[]> {
  const images = new ImageStore()
  await images.publish(NEW, [{ name: 'usr/local/bin/edgecore', content: agentProgram(NEW, kind) }])
  const registry = await startTestRegistry(images)
  const image = `${registry.host}/team/edge`
  const waiting = [...faults]
  const ends: EndState[] = []
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const end = await runScenario({ registry: registry.host, image, kind, faults: next })
      ends.push(end)
      for (const point of Object.values(next)) table.push(row(kind, point, end))
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  await registry.stop()
  return ends
}

function row(kind: string, point: string, { outcome, code, version, starts, broken }: EndState): string {
  const end = `${outcome}/${code}`.padEnd(24)
  const verdict = broken.length === 0 ? 'ok' : broken.join('; ')
  return [kind.padEnd(16), point.padEnd(12), end, version, starts.join(' ').padEnd(21), verdict].join('  ')
}
