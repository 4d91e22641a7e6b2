import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '@upgrade-hub/core'
import { DEFAULT_LIMITS, pullImage } from '@upgrade-hub/oci'
import { downloadLayer, HOST } from '@upgrade-hub/oci/testing'
import { atLeast, type BenchReport, type Figure, plain } from '../report.ts'
import { FILE_IN_LAYER, TAG } from './shape.ts'

const REGISTRY = fileURLToPath(new URL('registry-main.ts', import.meta.url))
const MIB = 1024 * 1024

interface Served {
  readonly host: string
  readonly layer: { readonly mediaType: string; readonly digest: string; readonly size: number }
}

/**
 * The download of a layer against the least that it can be: fetch, hash, write, fsync. What a whole pull takes, with the
 * file unpacked and written once more, stands beside it.
 */
export async function run(args: string[]): Promise<BenchReport> {
  const options = {
    mib: { type: 'string' },
    rounds: { type: 'string' },
    compression: { type: 'string' },
  } as const
  const { values } = parseArgs({ args, options })
  const { mib = '256', rounds = '7', compression = 'none' } = values
  const folder = mkdtempSync(join(tmpdir(), 'bench-pull-'))
  const registry = spawn(process.execPath, [REGISTRY, mib, compression], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(registry.stdout, 'data')) as [Buffer]
    const served = JSON.parse(line.toString()) as Served
    const figures = await measure(served, folder, Number(rounds))
    return { bench: 'pull', options: { mib, rounds, compression }, figures }
  } finally {
    registry.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * All in turn, and each second round the other way round, so that what else the machine does meets them alike; the ratio
 * is taken within a round. The first round warms them up.
 */
async function measure(served: Served, folder: string, rounds: number): Promise<Figure[]> {
  const works = { bare: fetchBare, ours: download, whole: pull }
  const times = { bare: [] as number[], ours: [] as number[], whole: [] as number[] }
  const cpu = { bare: 0, ours: 0, whole: 0 }
  const names = ['bare', 'ours', 'whole'] as const
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const before = process.cpuUsage()
      const ms = await timed(folder, (into) => works[name](served, into))
      if (round === 0) continue
      const { user, system } = process.cpuUsage(before)
      times[name].push(ms)
      cpu[name] += user + system
    }
  }
  const rate = (all: readonly number[]) => served.layer.size / MIB / (median(all) / 1000)
  const ratios = times.bare.map((bare, at) => bare / (times.ours[at] ?? Number.NaN))
  return [
    plain('bare pipeline', rate(times.bare), 'MiB/s'),
    plain('download', rate(times.ours), 'MiB/s'),
    atLeast('download / bare', median(ratios), '', 0.85),
    plain('whole pull', rate(times.whole), 'MiB/s'),
    // What a busy machine cannot blur.
    plain('CPU of download / of bare', cpu.ours / cpu.bare, ''),
  ]
}

async function timed(folder: string, work: (into: string) => Promise<void>): Promise<number> {
  const into = join(folder, 'into')
  await mkdir(into)
  const started = performance.now()
  await work(into)
  const ms = performance.now() - started
  await rm(into, { recursive: true })
  return ms
}

async function pull({ host }: Served, into: string): Promise<void> {
  await pullImage({
    image: { registry: host, repository: 'team/edge', tag: TAG },
    platform: HOST,
    files: [`/${FILE_IN_LAYER}`],
    into,
    registry: { plainHttp: [host], allow: [] },
    limits: DEFAULT_LIMITS,
    clock: systemClock,
    signal: new AbortController().signal,
  })
}

async function download({ host, layer }: Served, into: string): Promise<void> {
  const path = join(into, 'layer')
  await downloadLayer(host, layer, path)
  await syncFile(path)
}

async function fetchBare({ host, layer }: Served, into: string): Promise<void> {
  const answer = await fetch(`http://${host}/v2/team/edge/blobs/${layer.digest}`)
  if (!answer.body) throw new Error(`the registry answered ${answer.status}`)
  const hash = createHash('sha256')
  const hashing = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  const path = join(into, 'layer')
  await pipeline(Readable.fromWeb(answer.body), hashing, createWriteStream(path))
  await syncFile(path)
  if (`sha256:${hash.digest('hex')}` !== layer.digest) throw new Error('the bare pipeline has other bytes')
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path)
  await file.sync()
  await file.close()
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
