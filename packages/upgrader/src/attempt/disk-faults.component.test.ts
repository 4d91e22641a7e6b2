import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentKind } from '../testing/fake-agent.ts'
import type { Errno } from '../testing/faulty-disk.ts'
import { createMemoryNode, upgradeInMemory } from '../testing/memory-upgrade.ts'
import type { NodeFixture } from '../testing/node-fixture.ts'

const disk = await vi.hoisted(async () => {
  const { FaultyDisk } = await import('../testing/faulty-disk.ts')
  return new FaultyDisk()
})
vi.mock('node:fs/promises', async (importActual) => disk.wrap(await importActual()))
vi.mock('../host/command.ts', async (importActual) => {
  const { runInMemory } = await import('../testing/memory-command.ts')
  return { ...(await importActual<object>()), run: runInMemory }
})

let node: NodeFixture
beforeEach(async () => {
  node = await createMemoryNode()
})
afterEach(async () => {
  disk.root = '/nowhere'
  await node.remove()
})

const table: string[] = []
afterAll(() => {
  process.stdout.write(`\na disk that fails at its n-th call, for every n -> ends\n${table.join('\n')}\n`)
})

/** One upgrade on a disk that fails once, or from one call on until its updater has ended. */
async function upgradeOn(kind: AgentKind, fault: { errno: Errno; failAt: number; forEver: boolean }) {
  let callsToHealth = 0
  disk.begin(fault)
  const at = (point: string) => {
    if (point === 'E9.before') callsToHealth = disk.calls
  }
  const end = await upgradeInMemory({ node, disk, kind, at, onUpdaterEnd: () => disk.heal() })
  return { ...end, calls: disk.calls, callsToHealth }
}

/** F05, R22. */
describe('a disk that fails', { timeout: 600_000 }, () => {
  const errnos: readonly Errno[] = ['ENOSPC', 'EIO', 'EROFS', 'EMFILE']
  const cases = [
    ...errnos.map((errno) => ({ kind: 'good' as const, errno, forEver: true })),
    ...(['ENOSPC', 'EIO'] as const).map((errno) => ({ kind: 'good' as const, errno, forEver: false })),
    ...errnos.map((errno) => ({ kind: 'crashes at once' as const, errno, forEver: false })),
  ]

  it.each(cases)(
    'by $errno (for ever: $forEver) at any call leaves an agent that runs, and says what happened ($kind)',
    async ({ kind, errno, forEver }) => {
      const { calls, callsToHealth } = await upgradeOn(kind, { errno, failAt: 0, forEver })
      // Up to there a bad agent's upgrade is a good one's.
      const first = kind === 'good' ? 1 : callsToHealth
      const outcomes = new Map<string, number>()
      const broken: string[] = []
      for (let failAt = first; failAt <= calls; failAt++) {
        const end = await upgradeOn(kind, { errno, failAt, forEver })
        outcomes.set(end.outcome, (outcomes.get(end.outcome) ?? 0) + 1)
        broken.push(...end.broken.map((text) => `call ${failAt}: ${text}`))
      }
      const ends = Array.from(outcomes, ([outcome, count]) => `${count} ${outcome}`).join(', ')
      table.push(
        `${kind.padEnd(16)} ${errno} ${forEver ? 'for ever' : 'once    '} ${first}-${calls}: ${ends}`,
      )
      expect(broken).toEqual([])
      expect(calls - first).toBeGreaterThan(10)
    },
  )
})
