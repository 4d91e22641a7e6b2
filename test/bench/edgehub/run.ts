import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { HELLO } from '@upgrade-hub/channel/testing'
import { systemClock } from '@upgrade-hub/core'
import { DEFAULT_PROJECT_ID, encodeFrame } from '@upgrade-hub/protocol'
import { createNode } from '@upgrade-hub/upgrader/testing'
import { stringify } from 'yaml'
import { bundle } from '../../../apps/node-package/src/bundle.ts'
import { atMost, type BenchReport, type Figure, plain } from '../report.ts'
import { type BenchHub, startBenchHub } from './hub.ts'

const EDGEHUB = fileURLToPath(new URL('../../../apps/edgehub/src/main.ts', import.meta.url))
const BARE = fileURLToPath(new URL('bare-main.ts', import.meta.url))
const NODE = 'edge-1'
/** From the session on, until what a start needs is given back. */
const SETTLE_MS = 3_000

interface Sample {
  readonly readyMs: number
  readonly rssMiB: number
}

/** What edgehub costs a node, against Node and `ws` alone: from its start to the session, and at rest. */
export async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({ args, options: { rounds: { type: 'string' } } })
  const rounds = Number(values.rounds ?? 7)
  const folder = mkdtempSync(join(tmpdir(), 'bench-edgehub-'))
  const hub = await startBenchHub(folder, NODE)
  const node = await createNode()
  try {
    const config = join(folder, 'edgehub.yaml')
    const { url, certificates } = hub
    writeFileSync(
      config,
      stringify({
        ...node.config,
        hub: { websocket: url, https: url.replace('wss', 'https') },
        certificates,
      }),
    )
    const ours = [await bundled(EDGEHUB, folder), '--config', config]
    const bare = [await bundled(BARE, folder), bareSettings(hub, folder)]
    return { bench: 'edgehub', options: { rounds }, figures: await measure(hub, { ours, bare }, rounds) }
  } finally {
    await hub.stop()
    await node.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As it is shipped: one file. */
async function bundled(entry: string, folder: string): Promise<string> {
  const outfile = join(folder, entry === BARE ? 'bare.cjs' : 'edgehub.cjs')
  await bundle({ entry, outfile, node: process.execPath })
  return outfile
}

function bareSettings({ url, certificates }: BenchHub, folder: string): string {
  const path = join(folder, 'bare.json')
  const frame = (operation: string, content: object) =>
    encodeFrame({ operation, content }, 'edge', systemClock.now())
  const settings = {
    url: `${url}/${DEFAULT_PROJECT_ID}/${NODE}/events`,
    headers: { node_id: NODE, project_id: DEFAULT_PROJECT_ID },
    certificates,
    hello: frame('hello', HELLO),
    keepalive: frame('keepalive', {}),
  }
  writeFileSync(path, JSON.stringify(settings))
  return path
}

/** The two in turns, so that what else the machine does meets both. */
async function measure(
  hub: BenchHub,
  programs: { ours: string[]; bare: string[] },
  rounds: number,
): Promise<Figure[]> {
  const samples: { ours: Sample[]; bare: Sample[] } = { ours: [], bare: [] }
  for (let round = 0; round <= rounds; round++) {
    for (const name of ['ours', 'bare'] as const) {
      const sample = await sampleOf(hub, programs[name])
      // The first of each only warms the caches of the machine.
      if (round > 0) samples[name].push(sample)
    }
  }
  const ready = median(samples.ours, 'readyMs')
  const rss = median(samples.ours, 'rssMiB')
  return [
    plain('ready, bare Node + ws', median(samples.bare, 'readyMs'), 'ms'),
    atMost('ready, edgehub', ready, 'ms', 300),
    atMost('ready, edgehub / bare', ready / median(samples.bare, 'readyMs'), 'x', 2),
    plain('RSS, bare Node + ws', median(samples.bare, 'rssMiB'), 'MiB'),
    atMost('RSS, edgehub', rss, 'MiB', 60),
    atMost('RSS, edgehub / bare', rss / median(samples.bare, 'rssMiB'), 'x', 1.15),
  ]
}

async function sampleOf(hub: BenchHub, argv: string[]): Promise<Sample> {
  const session = hub.nextSession()
  const startedAt = systemClock.monotonic()
  const child = spawn(process.execPath, argv, { env: {}, stdio: ['ignore', 'ignore', 'inherit'] })
  const closed = once(child, 'close')
  try {
    await Promise.race([session, closed.then(() => Promise.reject(new Error(`${argv[0]} has ended`)))])
    const readyMs = systemClock.monotonic() - startedAt
    await systemClock.sleep(SETTLE_MS)
    return { readyMs, rssMiB: rssMiB(child.pid ?? 0) }
  } finally {
    child.kill('SIGKILL')
    await closed
  }
}

function rssMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}

function median(samples: readonly Sample[], of: keyof Sample): number {
  const sorted = samples.map((sample) => sample[of]).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
