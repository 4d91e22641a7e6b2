import type { TestRegistry } from '@upgrade-hub/oci/testing'
import type { AgentKind } from '@upgrade-hub/upgrader/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRegistry } from '../edgehub/edge-node.ts'
import { FakeHub } from '../edgehub/fake-hub.ts'
import { CELLS, type Cell, VICTIMS } from './points.ts'
import { type Lane, runCell } from './run-cell.ts'

const LANES = 4
const cells = new Map<string, string>()

function note({ victim, points }: Cell, verdict: string): void {
  for (const point of Object.values(points)) {
    const key = `${point} ${victim}`
    cells.set(key, cells.get(key) === undefined || cells.get(key) === 'ok' ? verdict : (cells.get(key) ?? ''))
  }
}

afterAll(() => {
  const order = [...new Set(CELLS.flatMap(({ points }) => Object.values(points)))].sort(
    new Intl.Collator('en', { numeric: true }).compare,
  )
  const head = ['killed at   ', ...VICTIMS.map((victim) => victim.padEnd(8))].join(' ')
  const rows = order.map((point) =>
    [point.padEnd(12), ...VICTIMS.map((victim) => (cells.get(`${point} ${victim}`) ?? '-').padEnd(8))].join(
      ' ',
    ),
  )
  process.stdout.write(
    `\nkill -9 at every step, on the service manager process\n${[head, ...rows].join('\n')}\n`,
  )
})

/** F01, R23, R35; I1, I2, I4 to I7. */
describe('a kill -9 before and after every step', { timeout: 900_000 }, () => {
  const registries = new Map<AgentKind, { registry: TestRegistry; image: string }>()
  beforeAll(async () => {
    for (const kind of new Set(CELLS.map((cell) => cell.kind)))
      registries.set(kind, await startRegistry(kind))
  })
  afterAll(async () => {
    for (const { registry } of registries.values()) await registry.stop()
  })

  it('of updater, edgehub, both or the agent ends in a proven agent and one true result', async () => {
    const waiting = [...CELLS]
    const broken: string[] = []
    const lane = async () => {
      const hub = await FakeHub.start()
      for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
        const from = registries.get(cell.kind)
        if (!from) throw new Error(`no registry for ${cell.kind}`)
        const problems = await problemsOf(cell, { hub, registry: from.registry.host, image: from.image })
        note(cell, problems.length === 0 ? 'ok' : 'BROKEN')
        broken.push(
          ...problems.map((text) => `${cell.victim} ${Object.values(cell.points).join('+')}: ${text}`),
        )
      }
      await hub.stop()
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    expect(broken).toEqual([])
    expect(new Set(cells.values())).toEqual(new Set(['ok']))
  })
})

async function problemsOf(cell: Cell, lane: Lane): Promise<readonly string[]> {
  try {
    return (await runCell(cell, lane)).broken
  } catch (error) {
    return [`it did not come to an end: ${String(error)}`]
  }
}
