import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Metrics, noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import { connect, type KubeClient, NODES } from '@upgrade-hub/kube'
import { SERVER } from '@upgrade-hub/kube/testing'
import { findBinaries } from '../../controlplane/binaries.ts'
import { kubeconfigFor, Program, startRealPlane } from '../../harness/index.ts'
import { atMost, type BenchReport, type Figure, plain } from '../report.ts'

const SINK = fileURLToPath(new URL('sink-main.ts', import.meta.url))
const ROUNDS = 5
const WARM_UP = 500

interface Options {
  readonly writes: number
  readonly concurrency: number
}

interface Cost {
  readonly cpuUs: number
  readonly perSecond: number
}

/** What a write costs this process: on a bare HTTPS server, and on a real kube-apiserver where there is one. */
export async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: { writes: { type: 'string' }, concurrency: { type: 'string' } },
  })
  const options = { writes: Number(values.writes ?? 4_000), concurrency: Number(values.concurrency ?? 16) }
  const figures = [...(await onSink(options)), ...(await onRealServer(options))]
  return { bench: 'kube-client', options: { ...options, rounds: ROUNDS }, figures }
}

async function onSink(options: Options): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-kube-'))
  const sink = new Program('sink', [process.execPath, SINK])
  try {
    const [, port = ''] = await sink.says(/port (\d+)/)
    const kubeconfig = join(folder, 'kubeconfig')
    const plane = { url: `https://127.0.0.1:${port}`, caPem: SERVER.ca }
    writeFileSync(kubeconfig, kubeconfigFor(plane, { token: 'any' }), { mode: 0o600 })
    return await measured('bare https', kubeconfig, options)
  } finally {
    await sink.stop()
    rmSync(folder, { recursive: true })
  }
}

async function onRealServer(options: Options): Promise<Figure[]> {
  const binaries = findBinaries(process.env)
  if ('absent' in binaries) return []
  const plane = await startRealPlane({ binaries })
  try {
    const client = await connect({ kubeconfig: plane.kubeconfigPath, clock: systemClock, log: silentLogger })
    for (let i = 0; i < options.concurrency; i++) {
      await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName(i) } })
    }
    await client.close()
    return await measured('kube-apiserver', plane.kubeconfigPath, options)
  } finally {
    await plane.stop()
  }
}

async function measured(where: string, kubeconfig: string, options: Options): Promise<Figure[]> {
  const connections = { count: 0 }
  const client = await connect({
    kubeconfig,
    clock: systemClock,
    log: silentLogger,
    metrics: countingConnections(connections),
  })
  try {
    await writeMany(client, { ...options, writes: WARM_UP })
    connections.count = 0
    const rounds: Cost[] = []
    for (let round = 0; round < ROUNDS; round++)
      rounds.push(await costOf(() => writeMany(client, options), options))
    const best = rounds.toSorted((a, b) => a.cpuUs - b.cpuUs)[Math.floor(ROUNDS / 2)]
    return [
      atMost(`${where}: CPU per write (median)`, best?.cpuUs ?? Number.NaN, 'us', 250),
      atMost(`${where}: TLS handshakes per write`, connections.count / (ROUNDS * options.writes), '', 0.01),
      plain(`${where}: writes per second`, best?.perSecond ?? Number.NaN, '/s'),
    ]
  } finally {
    await client.close()
  }
}

async function costOf(work: () => Promise<void>, { writes }: Options): Promise<Cost> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return { cpuUs: (user + system) / writes, perSecond: writes / ((performance.now() - startedAt) / 1000) }
}

/** Merge patches of a status of the size that a task has, each worker on its own object. */
async function writeMany(client: KubeClient, { writes, concurrency }: Options): Promise<void> {
  let left = writes
  const work = async (worker: number) => {
    while (left-- > 0) await client.patch(NODES, nodeName(worker), statusPatch(left))
  }
  await Promise.all(Array.from({ length: concurrency }, (_, worker) => work(worker)))
}

function statusPatch(n: number): object {
  const annotations = Object.fromEntries(
    Array.from({ length: 6 }, (_, i) => [`upgradehub.io/bench-${i}`, `${n} `.repeat(20)]),
  )
  return { metadata: { annotations } }
}

function nodeName(worker: number): string {
  return `bench-${worker}`
}

function countingConnections(connections: { count: number }): Metrics {
  const counting = {
    inc: () => {
      connections.count += 1
    },
  }
  return {
    ...noMetrics,
    counter: (name, help, labels) =>
      name === 'upgradehub_kube_connections_total' ? counting : noMetrics.counter(name, help, labels),
  }
}
