import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { attemptPaths, epochFloor, nodeLock, stagingFolder } from '../store/paths.ts'
import type { AgentKind } from '../testing/fake-agent.ts'
import { HastyClock } from '../testing/memory-agent.ts'
import { createMemoryNode, MEMORY_ID, upgradeInMemory } from '../testing/memory-upgrade.ts'
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
  disk.begin({ errno: 'EIO', failAt: 0, forEver: false })
})
afterEach(async () => {
  disk.root = '/nowhere'
  await node.remove()
})

const WAY = ['E1', 'E2', 'E3', 'E4', 'E5', 'E6', 'E7', 'E8', 'E9', 'E10', 'E11', 'E12']
const WAY_BACK = ['R5', 'R6', 'R7', 'R8', 'R9', 'E11', 'E12']

const table = new Map<string, Set<string>>()
afterAll(() => {
  const rows = Array.from(table, ([row, ends]) => `${row}  ${Array.from(ends).join(' ')}`)
  process.stdout.write(`\na file that is damaged while its updater is dead -> ends\n${rows.join('\n')}\n`)
})

/** What there is on disk, by the names of edge.md. */
const FILES: Readonly<Record<string, () => readonly string[]>> = {
  journal: () => [attemptPaths(node.config, MEMORY_ID).journal],
  intent: () => [attemptPaths(node.config, MEMORY_ID).prepare],
  permission: () => [attemptPaths(node.config, MEMORY_ID).permit],
  gate: () => [attemptPaths(node.config, MEMORY_ID).gate],
  owner: () => [attemptPaths(node.config, MEMORY_ID).owner],
  'journal and intent': () => {
    const { journal, prepare } = attemptPaths(node.config, MEMORY_ID)
    return [journal, prepare]
  },
  'node lock': () => [nodeLock(node.config)],
  floor: () => [epochFloor(node.config)],
  'staged file': () => [join(stagingFolder(node.config, 'a1b2c3', 1), 'edgecore')],
  'backup list': () => [join(node.config.paths.etc, 'backup/a1b2c3.1/backup.json')],
  'backup copy': () => [join(node.config.paths.etc, 'backup/a1b2c3.1/0-edgecore')],
  'file beside': () => besideAgent(),
  'spooled result': () => filesIn(join(node.config.paths.state, 'spool')),
}

const DAMAGES = {
  missing: (path: string) => rmSync(path),
  empty: (path: string) => truncateSync(path, 0),
  torn: (path: string) => truncateSync(path, Math.floor(statSync(path).size / 2)),
  garbage: (path: string) => writeFileSync(path, Buffer.alloc(300, 0xa5)),
  'one bit': (path: string) => {
    const bytes = readFileSync(path)
    const at = Math.floor(bytes.length / 2)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(path, bytes)
  },
  foreign: (path: string) => writeFileSync(path, '{"v":99,"step":"E99"}\n'),
}

/** For what is written whole or not at all. */
const ONLY = { missing: DAMAGES.missing, 'one bit': DAMAGES['one bit'] }

function besideAgent(): readonly string[] {
  return filesIn(join(node.root, 'bin')).filter((path) => path.includes('/.edgecore'))
}

function filesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

/** The updater dies before a step, and what it left is damaged before the next one comes. */
async function upgradeWith(kind: AgentKind, step: string, damage: () => void) {
  let isOver = false
  let isDead = false
  return upgradeInMemory({
    node,
    disk,
    kind,
    at: (point, kill) => {
      if (isOver || point !== `${step}.before`) return
      isOver = isDead = true
      kill()
    },
    onUpdaterEnd: () => {
      if (isDead) damage()
      isDead = false
    },
  })
}

/** F04, F01. */
describe('what a dead updater has left', { timeout: 600_000 }, () => {
  const cases = (['good', 'crashes at once'] as const).flatMap((kind) =>
    Object.keys(FILES).map((file) => ({ kind, file })),
  )

  it.each(cases)('may be damaged in any way: the $file ($kind)', async ({ kind, file }) => {
    const broken: string[] = []
    const damages = file.startsWith('journal') ? DAMAGES : ONLY
    for (const step of kind === 'good' ? WAY : WAY_BACK) {
      for (const [name, damage] of Object.entries(damages)) {
        const { outcome, broken: problems } = await upgradeWith(kind, step, () => {
          for (const path of FILES[file]?.() ?? [])
            if (existsSync(path) && statSync(path).isFile()) damage(path)
        })
        const row = `${kind.padEnd(16)} ${file.padEnd(18)} ${name.padEnd(8)}`
        table.set(row, (table.get(row) ?? new Set()).add(outcome))
        broken.push(...problems.map((text) => `${step}, ${name}: ${text}`))
      }
    }
    expect(broken).toEqual([])
  })
})

/** F06 */
describe('a wall clock that is wrong', { timeout: 120_000 }, () => {
  const HOUR_MS = 3_600_000
  const starts = {
    '1970': 0,
    now: Date.parse('2026-01-01T00:00:00Z'),
    'in ten years': Date.parse('2036-01-01T00:00:00Z'),
  }
  const jumps = {
    stands: 0,
    'goes back an hour at every step': -HOUR_MS,
    'goes on an hour at every step': HOUR_MS,
  }
  const cases = Object.entries(starts).flatMap(([start, wall]) =>
    Object.entries(jumps).map(([jump, ms]) => ({ start, wall, jump, ms })),
  )

  it.each(cases)('at $start that $jump changes no end', async ({ wall, ms }) => {
    for (const kind of ['good', 'crashes at once'] as const) {
      const clock = new HastyClock(wall)
      const at = () => {
        clock.wall = Math.max(0, clock.wall + ms)
      }
      const { outcome, broken } = await upgradeInMemory({ node, disk, kind, clock, at })
      expect(broken).toEqual([])
      expect(outcome).toBe(kind === 'good' ? 'Succeeded' : 'RolledBack')
    }
  })

  it('that flickers between two years changes no end', async () => {
    const clock = new HastyClock()
    let turn = 0
    const at = () => {
      clock.wall = turn++ % 2 === 0 ? 0 : Date.parse('2036-01-01T00:00:00Z')
    }
    const { outcome, broken } = await upgradeInMemory({ node, disk, kind: 'good', clock, at })
    expect({ outcome, broken }).toEqual({ outcome: 'Succeeded', broken: [] })
  })
})
