import {
  HOLD_ANNOTATION,
  type Hold,
  type Node,
  type NodeUpgradeJob,
  type NodeUpgradeTask,
  UPGRADING_LABEL,
} from '@upgrade-hub/api'
import { isEnd, isFinished, jobPlan, limitsOf, statusOf, windowAt, zoneOf } from '@upgrade-hub/rollout'
import type { Event, SimApi, Stored } from './api.ts'
import type { SimEdge } from './edge.ts'
import type { People } from './people.ts'
import type { World } from './world.ts'

/** Holds the invariants of docs/quality against everything that was ever stored, and against the end. */
export class Checker {
  readonly #world: World
  readonly #api: SimApi
  readonly #jobName: string
  readonly #initial: ReadonlyMap<string, boolean>
  /** Nodes that a task ended on with its cordon kept, by the job's `keepCordonedOn`. */
  readonly #mayStay = new Set<string>()
  readonly #digests = new Map<string, string>()

  constructor(world: World, api: SimApi, jobName: string) {
    this.#world = world
    this.#api = api
    this.#jobName = jobName
    this.#initial = new Map(
      api.all('node').map((node) => [node.metadata.name, node.spec?.unschedulable ?? false]),
    )
    api.onStored.add((event, before) => this.#onStored(event, before))
  }

  #onStored({ kind, type, object }: Event, before: Stored | undefined): void {
    if (type === 'deleted') return
    if (kind === 'node') this.#onNode(object as Node, before as Node | undefined)
    if (kind === 'task') this.#onTask(object as NodeUpgradeTask, before as NodeUpgradeTask | undefined)
    if (kind !== 'node') this.#budget()
  }

  /** Slots in use never exceed the job's concurrency. */
  #budget(): void {
    const job = this.#api.get('job', this.#jobName)
    if (!job) return
    const running = this.#api.all('task').filter((task) => statusOf(task).phase === 'InProgress')
    const slots = new Set(running.map((task) => task.metadata.name))
    for (const { task } of job.status?.releasing ?? []) slots.add(task)
    const allowed = slotsOf(job, this.#api.all('task'))
    if (slots.size > allowed) this.#world.breach(`${slots.size} slots in use of ${allowed}`)
  }

  #onNode(node: Node, before: Node | undefined): void {
    const hold = holdOf(node)
    const earlier = before?.metadata.uid === node.metadata.uid ? holdOf(before) : undefined
    if (!hold || hold.taskUID === earlier?.taskUID) return
    const { name, uid } = node.metadata
    if (earlier) this.#world.breach(`${name} was taken from ${earlier.task} by ${hold.task}`)
    const task = this.#api.get('task', hold.task)
    if (task && task.spec.nodeUID !== uid)
      this.#world.breach(`${name} was taken for another node of its name`)
    if (statusOf(task ?? NO_TASK).phase === 'InProgress')
      this.#world.breach(`${name} was taken twice for one proceed`)
  }

  #onTask(task: NodeUpgradeTask, before: NodeUpgradeTask | undefined): void {
    const status = statusOf(task)
    const earlier = statusOf(before ?? task)
    const { nodeName } = task.spec
    if (status.intent?.verb === 'proceed' && earlier.intent?.verb !== 'proceed') this.#onProceed(task)
    if (!isEnd(status.phase) || isEnd(earlier.phase)) return
    const job = this.#api.get('job', this.#jobName)
    const kept = job ? jobPlan(job).keepCordonedOn : []
    if (kept.includes(status.reason ?? '') || kept.includes(status.phase)) this.#mayStay.add(nodeName)
    const hold = holdOf(this.#api.get('node', nodeName))
    if (hold?.taskUID === task.metadata.uid && !this.#mayStay.has(nodeName))
      this.#world.breach(`${nodeName} is still held when its task ends`)
  }

  /** A permission is stored for a node that is ours, and for one image only. */
  #onProceed(task: NodeUpgradeTask): void {
    const { nodeName, purpose } = task.spec
    if (purpose === 'RollBack') return
    const job = this.#api.get('job', this.#jobName)
    const notAfter = Date.parse(statusOf(task).intent?.notAfter ?? '')
    const { window } = job ? jobPlan(job) : {}
    if (window && !windowAt(window, zoneOf(window, undefined), notAfter - 1_000).isOpen)
      this.#world.breach(`${nodeName} may stop its agent outside the window`)
    const digest = statusOf(task).edge?.answer?.indexDigest ?? ''
    this.#digests.set(nodeName, digest)
    if (new Set(this.#digests.values()).size > 1) this.#world.breach('two images were let through')
  }

  /** What must be true when all is over. */
  end(edges: Iterable<SimEdge>, people: People): void {
    const job = this.#api.get('job', this.#jobName)
    if (job) this.#endOfJob(job)
    for (const node of this.#api.all('node')) this.#endOfNode(node, people)
    for (const edge of edges) this.#endOfEdge(edge)
  }

  #endOfJob(job: NodeUpgradeJob): void {
    const tasks = this.#api.all('task')
    if (!isFinished(job)) this.#world.breach('the job did not end')
    const open = tasks.filter((task) => !isEnd(statusOf(task).phase)).map((task) => task.spec.nodeName)
    if (open.length > 0) this.#world.breach(`tasks did not end: ${open.join(', ')}`)
    const {
      total = 0,
      pending = 0,
      inProgress = 0,
      successful = 0,
      failed = 0,
      unknown = 0,
      skipped = 0,
    } = job.status?.summary ?? {}
    const sum = pending + inProgress + successful + failed + unknown + skipped
    if (sum !== total || total !== job.status?.plan?.total)
      this.#world.breach(`the summary does not add up: ${sum} of ${total}`)
    const terminal = job.status?.conditions?.filter(
      (c) => (c.type === 'Complete' || c.type === 'Failed') && c.status === 'True',
    )
    if (terminal?.length !== 1) this.#world.breach('not exactly one of Complete and Failed')
    const upgrades = tasks.filter(({ spec }) => spec.purpose === 'Upgrade')
    const backs = tasks.filter(({ spec }) => spec.purpose === 'RollBack').filter(isSuccessful).length
    const stored = upgrades.filter(isSuccessful).length - backs
    const isWhole = upgrades.length === total
    if (isWhole && stored !== successful)
      this.#world.breach(`summary says ${successful} successful, tasks ${stored}`)
  }

  #endOfNode(node: Node, people: People): void {
    const { name, labels = {} } = node.metadata
    if (holdOf(node)) this.#world.breach(`${name} is held for ever`)
    if (UPGRADING_LABEL in labels && !people.meddled.has(name)) this.#world.breach(`${name} keeps the label`)
    if (people.meddled.has(name)) return
    const is = node.spec?.unschedulable ?? false
    const should = people.wishes.get(name) ?? this.#initial.get(name) ?? false
    if (is !== should && !(is && this.#mayStay.has(name)))
      this.#world.breach(`${name} is ${is ? '' : 'not '}cordoned`)
  }

  #endOfEdge(edge: SimEdge): void {
    if (new Set(edge.swaps).size !== edge.swaps.length)
      this.#world.breach(`${edge.name} swapped twice for one attempt`)
    for (const task of this.#api.all('task')) {
      if (task.spec.nodeName !== edge.name || task.spec.nodeUID !== edge.nodeUID) continue
      this.#truth(edge, task)
      for (const result of edge.acknowledged) this.#isStored(task, result)
    }
  }

  #truth(edge: SimEdge, task: NodeUpgradeTask): void {
    const { phase, outcome, edge: said } = statusOf(task)
    const swapped = edge.swaps.some((swap) => swap.startsWith(`${task.metadata.uid}.`))
    const isNew = edge.version === task.spec.version
    const isTakenBack = this.#api
      .all('task')
      .some(
        ({ spec, metadata }) =>
          spec.rollbackOf === task.metadata.name &&
          edge.swaps.some((swap) => swap.startsWith(`${metadata.uid}.`)),
      )
    if (isTakenBack) return
    if (phase === 'Successful' && !(swapped && isNew))
      this.#world.breach(`${edge.name} is called upgraded and runs ${edge.version}`)
    if (outcome === 'RolledBack' && isNew)
      this.#world.breach(`${edge.name} is called rolled back and runs ${edge.version}`)
    const isUntouched = ['Skipped', 'Cancelled', 'RefusedBeforeChange', 'FailedBeforeChange'].includes(
      outcome ?? '',
    )
    const swappedNow = edge.swaps.includes(`${task.metadata.uid}.${statusOf(task).attempt}`)
    if (isUntouched && swappedNow && !said?.late?.length && statusOf(task).reason !== 'NodeGone') {
      this.#world.breach(`${edge.name} is called ${outcome} and was swapped`)
    }
  }

  #isStored(task: NodeUpgradeTask, result: { TaskUID: string; Outcome: string }): void {
    const { edge } = statusOf(task)
    const stored = [...(edge?.results ?? []), ...(edge?.late ?? [])]
    if (result.TaskUID === task.metadata.uid && !stored.some((entry) => entry.outcome === result.Outcome)) {
      this.#world.breach(`${task.spec.nodeName}: an acknowledged result is not stored`)
    }
  }
}

/** The most that any wave of the job allows: a node of an earlier one may be tried again meanwhile. */
function slotsOf(job: NodeUpgradeJob, tasks: readonly NodeUpgradeTask[]): number {
  const plan = jobPlan(job)
  const ofWave = (index: number) => {
    const total = tasks.filter(({ spec }) => spec.verdict === 'Run' && spec.wave === index).length
    return limitsOf(plan, job.status?.plan?.total ?? 0, { index, total }).slots
  }
  return Math.max(...[...plan.waves.keys(), plan.waves.length].map(ofWave))
}

function isSuccessful(task: NodeUpgradeTask): boolean {
  return statusOf(task).phase === 'Successful'
}

const NO_TASK = { status: { phase: 'Pending' } } as NodeUpgradeTask

function holdOf(node: Node | undefined): Hold | undefined {
  const text = node?.metadata.annotations?.[HOLD_ANNOTATION]
  return text === undefined ? undefined : (JSON.parse(text) as Hold)
}
