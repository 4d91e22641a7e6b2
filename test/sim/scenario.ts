import {
  EDGE_NODE_LABEL,
  type MaintenanceWindow,
  type Node,
  type NodeUpgradeJob,
  type Wave,
} from '@upgrade-hub/api'
import { isEnd, isFinished, statusOf } from '@upgrade-hub/rollout'
import { SimApi } from './api.ts'
import { Checker } from './checker.ts'
import { type Fate, SimEdge } from './edge.ts'
import { SimGateway } from './gateway.ts'
import { SimHub } from './hub.ts'
import { People } from './people.ts'
import { Random, World } from './world.ts'

const DAY_MS = 86_400_000
const JOB = 'fleet'
const VERSION = 'v1.1.0'
const FATES: readonly Fate[] = [
  'fine',
  'fine',
  'fine',
  'fine',
  'checkFailed',
  'pullFailed',
  'healthFailed',
  'rollbackFailed',
  'otherDigest',
  'busyOnce',
  'staleOnce',
  'liar',
  'failsOnce',
  'failsOnce',
]

const WAVES: Wave[][] = [
  [{ name: 'canary', size: 1, soakSeconds: 60 }],
  [
    { name: 'first', size: '30%', maxConcurrent: 1 },
    { name: 'second', size: '30%', approval: 'Required', soakSeconds: 5 },
  ],
  [{ name: 'all', approval: 'Required', maxConcurrent: '50%', soakSeconds: 30 }],
]

const WINDOWS: MaintenanceWindow[] = [
  { slots: [{ start: '00:00', durationMinutes: 2 }] },
  {
    timeZone: 'Europe/Berlin',
    slots: [{ start: '01:01', durationMinutes: 30 }],
    blackouts: [{ from: '2026-01-01T01:10', to: '2026-01-01T01:20' }],
  },
  { timeZone: 'NodeLocal', slots: [{ start: '00:05', durationMinutes: 600 }] },
]

/** How hard a run is. */
export interface Weather {
  /** Lost, doubled and late messages, failing and lost API calls. */
  readonly faults: boolean
  /** The hub is killed and restarted, now and then while the old one still writes. */
  readonly crashes: boolean
  /** Nodes crash and lose their network. */
  readonly edges: boolean
  readonly people: boolean
}

export interface Run {
  readonly world: World
  readonly api: SimApi
  readonly edges: readonly SimEdge[]
  readonly job: () => NodeUpgradeJob | undefined
}

/** A whole random job on a random fleet, from its creation until nothing of it moves any more. */
export function simulate(
  seed: number,
  weather: Weather,
  fixed: Partial<NodeUpgradeJob['spec']> & { fates?: readonly Fate[] } = {},
): Run {
  const { fates, ...spec } = fixed
  const world = new World(seed)
  const { random } = world
  const api = new SimApi(world)
  const names = Array.from({ length: fates?.length ?? random.int(1, 8) }, (_, index) => `node-${index}`)
  for (const name of names)
    api.create('node', nodeOf(name, fates ? new Random(1) : random, fates !== undefined))
  const gateway = new SimGateway(world, api)
  const edges = names.map((name, index) =>
    edgeOf(world, api, gateway, { name, fate: fates?.[index] ?? random.pick(FATES) }),
  )
  for (const edge of edges) gateway.edges.set(edge.name, edge)
  const checker = new Checker(world, api, JOB)
  const people = new People(world, api, JOB)
  api.create('job', jobOf(random, names, spec))
  if (weather.faults) {
    api.faults = { away: random.next() * 0.1, lost: random.next() * 0.1, conflict: random.next() * 0.3 }
    gateway.loss = random.next() * 0.3
  }
  keepHubRunning(world, api, weather.crashes)
  if (weather.edges) for (const edge of edges) trouble(world, edge)
  if (weather.people)
    for (let act = random.int(0, 6); act > 0; act--)
      world.after(random.int(0, 900_000), () => people.act(random.pick(names)))
  // Whoever paused goes on some day, and so do the machines.
  world.after(3_600_000, () => people.control({ paused: false }))
  const approve = () => world.after(random.int(1_000, 600_000), () => people.approve(approve))
  approve()
  world.after(DAY_MS, () => people.endStandstill())
  const over = world.run(3 * DAY_MS, () => isOver(api, edges, world))
  if (!over) world.breach('it is not over after three days')
  checker.end(edges, people)
  return { world, api, edges, job: () => api.get('job', JOB) }
}

function nodeOf(name: string, random: Random, plain: boolean): Node {
  const odd = (probability: number) => !plain && random.chance(probability)
  const version = odd(0.1) ? VERSION : odd(0.05) ? 'v1.2.0' : 'v1.0.0'
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: odd(0.05) ? {} : { [EDGE_NODE_LABEL]: '' } },
    spec: odd(0.2) ? { unschedulable: true } : {},
    status: {
      conditions: [{ type: 'Ready', status: odd(0.1) ? 'False' : 'True' }],
      nodeInfo: {
        kubeletVersion: `v1.28.6-kubeedge-${version}`,
        architecture: 'amd64',
        operatingSystem: 'linux',
      },
    },
  }
}

function edgeOf(
  world: World,
  api: SimApi,
  gateway: SimGateway,
  { name, fate }: { name: string; fate: Fate },
): SimEdge {
  const node = api.get('node', name)
  const version = node?.status?.nodeInfo?.kubeletVersion?.split('-kubeedge-')[1] ?? 'v1.0.0'
  return new SimEdge(world, api, gateway, { name, nodeUID: node?.metadata.uid ?? '', version, fate })
}

function jobOf(random: Random, names: readonly string[], fixed: object): NodeUpgradeJob {
  const listed = {
    nodeNames: [
      ...names,
      ...(random.chance(0.1) ? ['nowhere'] : []),
      ...(random.chance(0.2) ? names.slice(0, 1) : []),
    ],
  }
  const selected = { labelSelector: {}, upgradeHub: { allNodes: true } }
  const target = random.chance(0.7) ? listed : selected
  return {
    apiVersion: 'operations.kubeedge.io/v1alpha2',
    kind: 'NodeUpgradeJob',
    metadata: { name: JOB },
    spec: {
      ...target,
      version: VERSION,
      timeoutSeconds: random.pick([60, 300]),
      concurrency: random.int(1, 4),
      failureTolerate: random.pick(['0', '0.1', '0.3', '1']),
      upgradeHub: {
        ...('upgradeHub' in target ? target.upgradeHub : {}),
        prepareAhead: random.pick([0, 1, 3, '50%']),
        ...(random.chance(0.3) ? { maxConcurrent: random.pick([2, '25%', '100%']) } : {}),
        retry: random.pick([{}, { limit: 1 }, { limit: 2, backoffSeconds: 5 }]),
        ...(random.chance(0.4) ? { waves: random.pick(WAVES) } : {}),
        ...(random.chance(0.3) ? { window: random.pick(WINDOWS) } : {}),
        busyPolicy: random.pick(['Wait', 'Wait', 'Skip'] as const),
        onFailure: random.pick(['Stop', 'Pause', 'RollBack', 'RollBack'] as const),
        ...(random.chance(0.3) ? { maxUnavailable: random.pick([1, 3, '50%']) } : {}),
        ...(random.chance(0.3) ? { progressDeadlineSeconds: random.pick([120, 1_800]) } : {}),
        isolation: random.pick(['Cordon', 'Drain', 'None'] as const),
        keepCordonedOn: random.pick([['RollbackFailed'], [], ['Failure', 'Unknown']] as const).slice(),
        offline: { policy: random.pick(['Skip', 'Queue', 'Fail'] as const), ttlSeconds: 7_200 },
      },
      ...fixed,
    },
  }
}

/** There is always a leader again. A stale one may go on writing for a while beside it. */
function keepHubRunning(world: World, api: SimApi, crashes: boolean): void {
  const { random } = world
  const start = (left: number) => {
    const hub = new SimHub(world, api, {
      jobName: JOB,
      planDelayMs: left === (crashes ? MAX_CRASHES : 0) ? 0 : 20_000,
    })
    if (left === 0) return
    world.after(random.int(500, 240_000), () => {
      world.say('hub killed')
      world.after(random.chance(0.3) ? random.int(0, 5_000) : 0, () => hub.kill())
      world.after(random.int(0, 20_000), () => start(left - 1))
    })
  }
  start(crashes ? random.int(1, MAX_CRASHES) : 0)
}

const MAX_CRASHES = 6

function trouble(world: World, edge: SimEdge): void {
  const { random } = world
  for (let times = random.int(0, 3); times > 0; times--) {
    world.after(random.int(0, 600_000), () => {
      if (random.chance(0.4)) return edge.crash()
      edge.setOnline(false)
      world.after(random.int(1_000, random.chance(0.2) ? 3_000_000 : 120_000), () => edge.setOnline(true))
    })
  }
}

/** The job has ended or is gone, every edge has delivered, and no node is held. */
function isOver(api: SimApi, edges: readonly SimEdge[], world: World): boolean {
  if (world.now % 7 !== 0) return false
  const job = api.get('job', JOB)
  if (job && !isFinished(job)) return false
  if (job?.metadata.deletionTimestamp) return false
  const tasks = api.all('task')
  const open = tasks.some((task) => !isEnd(statusOf(task).phase))
  const held = api.all('node').some((node) => node.metadata.annotations?.['upgradehub.io/hold'] !== undefined)
  return (
    !open &&
    !held &&
    (job !== undefined || tasks.length === 0) &&
    edges.every((edge) => edge.undelivered === 0)
  )
}
