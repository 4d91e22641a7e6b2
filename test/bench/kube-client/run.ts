import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Metrics, noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import { connect, type KubeClient, NODES } from '@upgrade-hub/kube'
import { SERVER } from '@upgrade-hub/kube/testing'
import { Agent } from 'undici'
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

interface Target {
  readonly where: string
  readonly url: string
  readonly caPem: string
  readonly token: string
}

/** One write of worker number `worker`. */
type Write = (worker: number, body: object) => Promise<unknown>

/** What a write costs this process: on a bare HTTPS server, and on a real kube-apiserver where there is one. */
export async function run(args: string[]): Promise<BenchReport> {
  const flags = { writes: { type: 'string' }, concurrency: { type: 'string' } } as const
  const { values } = parseArgs({ args, options: flags })
  const options = { writes: Number(values.writes ?? 4_000), concurrency: Number(values.concurrency ?? 16) }
  const figures = [...(await onSink(options)), ...(await onRealServer(options))]
  return { bench: 'kube-client', options: { ...options, rounds: ROUNDS }, figures }
}

async function onSink(options: Options): Promise<Figure[]> {
  const sink = new Program('sink', [process.execPath, SINK])
  try {
    const [, port = ''] = await sink.says(/port (\d+)/)
    const target = { where: 'https server', url: `https://127.0.0.1:${port}`, caPem: SERVER.ca, token: 'any' }
    return await measured(target, options)
  } finally {
    await sink.stop()
  }
}

async function onRealServer(options: Options): Promise<Figure[]> {
  const binaries = findBinaries(process.env)
  if ('absent' in binaries) return []
  const plane = await startRealPlane({ binaries })
  try {
    const { url, caPem } = plane
    return await measured({ where: 'kube-apiserver', url, caPem, token: plane.users.admin.token }, options)
  } finally {
    await plane.stop()
  }
}

/** Our client and undici alone in turns, so that what else the machine does meets both. */
async function measured(target: Target, options: Options): Promise<Figure[]> {
  const connections = { count: 0 }
  const client = await clientOf(target, countingConnections(connections))
  const agent = new Agent({ connections: 16, allowH2: false, connect: { ca: target.caPem } })
  const ours: Write = (worker, body) => client.patch(NODES, nodeName(worker), body)
  const bare = bareWrite(agent, target)
  try {
    for (let i = 0; i < options.concurrency; i++) {
      await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName(i) } })
    }
    for (const write of [ours, bare]) await writeMany(write, { ...options, writes: WARM_UP })
    connections.count = 0
    const rounds: Record<'ours' | 'bare', number[]> = { ours: [], bare: [] }
    for (let round = 0; round < ROUNDS; round++) {
      rounds.ours.push(await cpuUsPerWrite(ours, options))
      rounds.bare.push(await cpuUsPerWrite(bare, options))
    }
    const handshakes = connections.count / (ROUNDS * options.writes)
    return [
      atMost(`${target.where}: CPU per write`, median(rounds.ours), 'us', 250),
      plain(`${target.where}: CPU per write, undici alone`, median(rounds.bare), 'us'),
      atMost(`${target.where}: TLS handshakes per write`, handshakes, '', 0.01),
    ]
  } finally {
    await client.close()
    await agent.close()
  }
}

async function clientOf(target: Target, metrics: Metrics): Promise<KubeClient> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-kube-'))
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, kubeconfigFor(target, { token: target.token }), { mode: 0o600 })
  try {
    return await connect({ kubeconfig, clock: systemClock, log: silentLogger, metrics })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function bareWrite(agent: Agent, { url, token }: Target): Write {
  const headers = { 'content-type': 'application/merge-patch+json', authorization: `Bearer ${token}` }
  return async (worker, body) => {
    const answer = await agent.request({
      origin: url,
      path: `/api/v1/nodes/${nodeName(worker)}`,
      method: 'PATCH',
      body: JSON.stringify(body),
      headers,
    })
    return JSON.parse(await answer.body.text()) as unknown
  }
}

async function cpuUsPerWrite(write: Write, options: Options): Promise<number> {
  const before = process.cpuUsage()
  await writeMany(write, options)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / options.writes
}

/** Merge patches of the size of a task's status, each worker on its own object. */
async function writeMany(write: Write, { writes, concurrency }: Options): Promise<void> {
  let left = writes
  const work = async (worker: number) => {
    while (left-- > 0) await write(worker, patchOf(left))
  }
  await Promise.all(Array.from({ length: concurrency }, (_, worker) => work(worker)))
}

function patchOf(n: number): object {
  const annotations = Object.fromEntries(
    Array.from({ length: 6 }, (_, i) => [`upgradehub.io/bench-${i}`, `${n} `.repeat(20)]),
  )
  return { metadata: { annotations } }
}

function nodeName(worker: number): string {
  return `bench-${worker}`
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
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
