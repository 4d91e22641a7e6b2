import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ImageStore, startTestRegistry, type TestRegistry } from '@upgrade-hub/oci/testing'
import { openAttemptStore } from '@upgrade-hub/upgrader'
import { type AgentKind, agentProgram, prepareFor } from '@upgrade-hub/upgrader/testing'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { bundle } from '../../apps/node-package/src/bundle.ts'
import { type Cut, CutNode, type CutOptions } from './cuts/cut-node.ts'
import { endure, ID, NEW, OLD, type Ordeal, type Row, tableOf } from './cuts/judge.ts'

const EDGEADM = fileURLToPath(new URL('../../apps/edgeadm/src/main.ts', import.meta.url))
const PARALLEL = 4
/** Not two minutes where nothing else runs. */
const TIMEOUT_MS = 600_000

const problem = inject('labProblem')
const rows: Row[] = []
let options: CutOptions
let registry: TestRegistry
let images: ImageStore

/** F03, F25: also between the two halves of every durable write, which no kill of a process can show. */
describe.skipIf(problem !== '')(`power cuts ${problem}`, { timeout: TIMEOUT_MS }, () => {
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'uh-cuts-'))
    const edgeadm = join(folder, 'edgeadm.cjs')
    await bundle({ entry: EDGEADM, outfile: edgeadm, node: process.execPath })
    images = new ImageStore()
    registry = await startTestRegistry(images)
    options = { folder, edgeadm, registry: registry.host }
  })
  afterAll(async () => {
    process.stdout.write(`\n${tableOf(rows)}\n`)
    await registry?.stop()
    await rm(options.folder, { recursive: true, force: true })
  })

  it('before every fsync and rename of an upgrade leave a node that runs and ends it, one, two and five in a row', async () => {
    const found = await sweep('good')
    expect(found.filter(({ broken }) => broken.length > 0)).toEqual([])
    const ends = new Set(found.map(({ end }) => end))
    // Several in a row may use up the three starts of the new agent.
    const allowed = ['RolledBack/HealthFailed', 'RolledBack/StopFailed', 'Succeeded/Upgraded', 'prepared']
    expect([...ends].filter((end) => !allowed.includes(end))).toEqual([])
    expect(ends).toContain('Succeeded/Upgraded')
    const once = found.filter(({ cuts }) => cuts === 1)
    const back = once.filter(({ end }) => end.startsWith('RolledBack'))
    expect(new Set(back.map(({ step }) => step))).toEqual(new Set(['E6']))
  })

  it('before every fsync and rename of a way back leave a node that runs its old agent', async () => {
    const found = await sweep('crashes at once')
    expect(found.filter(({ broken }) => broken.length > 0)).toEqual([])
    expect(found.filter(({ end }) => end.startsWith('Succeeded'))).toEqual([])
  })
})

/** One upgrade with every cut that could have been, and each of them lived through; a good one from its beginning. */
async function sweep(kind: AgentKind): Promise<readonly Row[]> {
  await images.publish(NEW, [{ name: 'usr/local/bin/edgecore', content: agentProgram(NEW, kind) }])
  const cuts = await distinct(await cutsOf(kind))
  const ordeals = cuts.flatMap((cut, at): Ordeal[] => [
    { kind, cut, again: [] },
    ...(at % 6 === 0 ? [{ kind, cut, again: calls(at, 1) }] : []),
    ...(at % 10 === 0 ? [{ kind, cut, again: calls(at, 4) }] : []),
  ])
  const waiting = [...ordeals]
  const found: Row[] = []
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) found.push(await endure(options, next))
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  rows.push(...found)
  return found
}

async function cutsOf(kind: AgentKind): Promise<readonly Cut[]> {
  const node = await CutNode.create(options, agentProgram(OLD))
  try {
    const store = openAttemptStore(node.config)
    await store.accept(prepareFor({ Image: `${registry.host}/team/edge` }))
    const preparing = await node.carryOn(ID)
    await store.permit(ID, { epoch: 1, nodeUID: 'node-uid', intentSeq: 2, validForSeconds: 120 })
    const proceeding = await node.carryOn(ID)
    expect((await store.attempt(ID))?.phase, kind).toBe('ended')
    return kind === 'good' ? [...preparing, ...proceeding] : proceeding
  } finally {
    await node.remove()
  }
}

/** Cuts that leave another disk than the one before them: what only memory knows is no difference. */
async function distinct(cuts: readonly Cut[]): Promise<readonly Cut[]> {
  const hashes = await Promise.all(
    cuts.map(async ({ image }) =>
      createHash('sha256')
        .update(await readFile(image))
        .digest('hex'),
    ),
  )
  return cuts.filter((_, at) => hashes[at] !== hashes[at - 1])
}

/** Other calls for each cut, the same in each run. */
function calls(seed: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => 1 + ((seed * 7 + at * 5) % 13))
}
