import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { JOB_KIND, type NodeUpgradeJob, type NodeUpgradeTask, TASK_KIND } from '@upgrade-hub/api'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { connect, type KubeClient, resource } from '@upgrade-hub/kube'
import type { SimulatedEdge } from '@upgrade-hub/testkit'
import { findBinaries } from '../../controlplane/binaries.ts'
import {
  freePorts,
  type OwnedPlane,
  Program,
  startRealPlane,
  until,
  writeKubeconfig,
} from '../../harness/index.ts'
import { install } from '../../harness/install.ts'
import { atMost, type BenchReport, type Figure, plain } from '../report.ts'
import { bareSecondsPerNode } from './bare.ts'
import { bytesIn, type Writes, writesOf } from './cost.ts'
import { startFleet } from './fleet.ts'

const HUB_MAIN = fileURLToPath(new URL('../../../apps/cloudhub/src/main.ts', import.meta.url))
const SMALL = 100
const DEADLINE_MS = 20 * 60_000
/** The writes of one attempt of a node without drain (architecture, section 4); everything else is on its own line. */
const PER_NODE = ['create nodeupgradetasks', 'patch nodeupgradetasks/status', 'patch nodes'] as const

const JOBS = resource<NodeUpgradeJob>(JOB_KIND)
const TASKS = resource<NodeUpgradeTask>(TASK_KIND)

interface Options {
  readonly edges: number
  readonly concurrency: number
  readonly prepareMs: number
  readonly upgradeMs: number
}

interface Cost {
  readonly seconds: number
  readonly writes: Writes
  readonly bytes: number
}

/** One job over N simulated edges on the real API server, and one over 100, so that growth per node shows. */
export async function run(args: string[]): Promise<BenchReport> {
  const options = optionsOf(args)
  const binaries = findBinaries(process.env)
  if ('absent' in binaries) throw new Error(`this bench needs the real control plane: ${binaries.reason}`)
  const plane = await startRealPlane({ binaries, audit: true })
  try {
    await install(plane)
    return await onPlane(plane, options)
  } finally {
    await plane.stop()
  }
}

async function onPlane(plane: OwnedPlane, options: Options): Promise<BenchReport> {
  const [websocket = 0, https = 0, metrics = 0, webhook = 0] = await freePorts(4)
  const hub = new Program('cloudhub', [
    process.execPath,
    HUB_MAIN,
    'run',
    `--kubeconfig=${writeKubeconfig(plane, 'hub')}`,
    `--websocket-port=${websocket}`,
    `--https-port=${https}`,
    `--metrics-port=${metrics}`,
    `--webhook-port=${webhook}`,
    '--log-level=warn',
    '--no-webhooks',
  ])
  const admin = await connect({ kubeconfig: plane.kubeconfigPath, clock: systemClock, log: silentLogger })
  try {
    await until(
      'the hub is ready',
      async () => (await fetch(`http://127.0.0.1:${metrics}/readyz`)).ok,
      60_000,
    )
    const at = { plane, admin, url: `wss://127.0.0.1:${websocket}` }
    const small = await oneJob(at, { ...options, edges: Math.min(SMALL, options.edges) }, 'small')
    const large = await oneJob(at, options, 'large')
    console.log('the same writes, by a bare client and with no hub')
    await hub.stop()
    const { items } = await admin.list(TASKS, { fieldSelector: 'spec.jobName=small' })
    const bare = await bareSecondsPerNode(admin, items)
    return { bench: 'job', options: { ...options }, figures: figures(options, { small, large, bare }) }
  } finally {
    await hub.stop()
    await admin.close()
  }
}

interface Place {
  readonly plane: OwnedPlane
  readonly admin: KubeClient
  readonly url: string
}

async function oneJob({ plane, admin, url }: Place, options: Options, label: string): Promise<Cost> {
  const stop = new AbortController()
  const behaviour = {
    prepareMs: options.prepareMs,
    upgradeMs: options.upgradeMs,
    outcome: 'Succeeded',
  } as const
  console.log(`${label}: ${options.edges} edges connect`)
  const fleet = await startFleet({
    admin,
    websocketUrl: url,
    size: options.edges,
    label,
    fromVersion: 'v1.22.0',
    behaviour,
    signal: stop.signal,
  })
  await until('every edge is connected', () => fleet.every((edge) => edge.connected), 300_000)
  const audit = join(plane.folder, 'audit.log')
  const before = { at: statSync(audit).size, bytes: await bytesNow(admin), time: performance.now() }
  await admin.create(JOBS, jobOf(label, options))
  console.log(`${label}: the job runs`)
  await finished(admin, label)
  const seconds = (performance.now() - before.time) / 1000
  const writes = await writesOf(audit, plane.users.hub.user, before.at)
  const bytes = (await bytesNow(admin)) - before.bytes
  await judge(admin, label, fleet)
  stop.abort()
  return { seconds, writes, bytes }
}

function jobOf(name: string, options: Options): NodeUpgradeJob {
  return {
    apiVersion: 'operations.kubeedge.io/v1alpha2',
    kind: 'NodeUpgradeJob',
    metadata: { name },
    spec: {
      version: 'v1.23.1',
      image: 'registry.example.com/kubeedge/installation-package',
      labelSelector: { matchLabels: { bench: name } },
      concurrency: options.concurrency,
    },
  } as NodeUpgradeJob
}

async function finished(admin: KubeClient, name: string): Promise<void> {
  await until(
    `job ${name} is finished`,
    async () => {
      const { status } = await admin.get(JOBS, name)
      return status?.conditions?.some(({ type, status: is }) => type === 'Finished' && is === 'True')
    },
    DEADLINE_MS,
  )
}

/** A fast wrong job is worth nothing: every node is upgraded once, its task says so, and no node is left cordoned. */
async function judge(admin: KubeClient, name: string, fleet: readonly SimulatedEdge[]): Promise<void> {
  const { items } = await admin.list(TASKS, { fieldSelector: `spec.jobName=${name}` })
  const failed = items.filter(({ status }) => status?.phase !== 'Successful')
  const swaps = fleet.filter(
    (edge) => edge.version !== 'v1.23.1' || [...edge.swaps.values()].some((n) => n !== 1),
  )
  if (items.length !== fleet.length || failed.length > 0 || swaps.length > 0) {
    throw new Error(
      `${name}: ${items.length} tasks, ${failed.length} not Successful, ${swaps.length} not swapped once`,
    )
  }
  const raw = (await admin.raw('/api/v1/nodes?limit=20000')) as {
    items: { spec?: { unschedulable?: boolean } }[]
  }
  const cordoned = raw.items.filter(({ spec }) => spec?.unschedulable).length
  if (cordoned > 0) throw new Error(`${name}: ${cordoned} nodes are left cordoned`)
}

async function bytesNow(admin: KubeClient): Promise<number> {
  const text = await admin.raw('/metrics')
  return bytesIn(String(text), ['nodeupgradejobs', 'nodeupgradetasks', 'nodes'])
}

function figures(
  options: Options,
  { small, large, bare }: { small: Cost; large: Cost; bare: number },
): Figure[] {
  const size = (cost: Cost) => (cost === small ? Math.min(SMALL, options.edges) : options.edges)
  const perNode = (cost: Cost) => PER_NODE.reduce((sum, key) => sum + (cost.writes[key] ?? 0), 0) / size(cost)
  const bytesPerNode = (cost: Cost) => cost.bytes / size(cost)
  const rounds = Math.ceil(options.edges / options.concurrency)
  const edgeSeconds = (options.prepareMs + rounds * options.upgradeMs) / 1000
  const apiSeconds = bare * options.edges
  const ideal = Math.max(edgeSeconds, apiSeconds)
  return [
    atMost(`API writes per node at ${options.edges}`, perNode(large), 'writes', 8),
    plain(`API writes per node at ${size(small)}`, perNode(small), 'writes'),
    ...Object.entries(large.writes)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => plain(`  ${name}, per node`, count / options.edges, '')),
    plain(`bytes per node at ${options.edges}`, bytesPerNode(large), 'B'),
    atMost(
      `bytes per node, ${options.edges} / ${size(small)}`,
      bytesPerNode(large) / bytesPerNode(small),
      '',
      1.1,
    ),
    plain('job time', large.seconds, 's'),
    plain('the edges alone', edgeSeconds, 's'),
    plain('the same writes by a bare client', apiSeconds, 's'),
    atMost('job time / ideal', large.seconds / ideal, '', 1.5),
  ]
}

function optionsOf(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      edges: { type: 'string', default: '2000' },
      concurrency: { type: 'string', default: '200' },
      'prepare-ms': { type: 'string', default: '200' },
      'upgrade-ms': { type: 'string', default: '1000' },
    },
  })
  return {
    edges: Number(values.edges),
    concurrency: Number(values.concurrency),
    prepareMs: Number(values['prepare-ms']),
    upgradeMs: Number(values['upgrade-ms']),
  }
}
