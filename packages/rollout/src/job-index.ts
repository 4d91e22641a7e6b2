import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { NodeCensus } from './node-census.ts'
import { isReason, REASONS } from './reasons.ts'
import type { SlimNode } from './slim-node.ts'
import { SortedList } from './sorted-list.ts'
import { holds, statusOf, type TaskState, taskState, timeOf } from './task-state.ts'

/** One task as the index knows it. */
export interface Entry {
  readonly name: string
  readonly nodeName: string
  readonly order: number
  readonly wave: number
  readonly attempt: number
  readonly state: TaskState
  readonly rank: number
  readonly task: NodeUpgradeTask
}

/** The job in numbers; `pending` to `skipped` are disjoint. */
export interface Counts {
  pending: number
  inProgress: number
  successful: number
  failed: number
  unknown: number
  skipped: number
  /** Of skipped: cancelled ones. */
  cancelled: number
  /** Of skipped: those that need nothing (at the version, excluded). */
  needless: number
  /** Of skipped: those that the end of the job's tolerance stopped. */
  stopped: number
  /** Of failed: those that run the old version again. */
  rolledBack: number
  /** Of pending: those that do not answer. */
  offline: number
  late: number
  /** Of failed and unknown: those that count at once, because the node may have been touched. */
  counted: number
  /** Tasks that still carry our finalizer. */
  held: number
}

const PHASE_COUNT = {
  Pending: 'pending',
  InProgress: 'inProgress',
  Successful: 'successful',
  Failure: 'failed',
  Unknown: 'unknown',
  Skipped: 'skipped',
  Cancelled: 'skipped',
} as const

/** Rows in the order of `status.nodeStatus`: what needs attention first. */
const RANKS = 5

/**
 * The tasks of one job, kept in the order in which decisions ask for them. A change of one task costs the same whatever the
 * size of the job; nothing here is ever scanned whole.
 */
export class JobIndex {
  readonly #entries = new Map<string, Entry>()
  readonly #byState = new Map<TaskState, SortedList<Entry>>()
  readonly #ranks = Array.from({ length: RANKS }, (_, rank) => new SortedList(rank === 3 ? byStart : byNode))
  readonly counts: Counts = noCounts()
  readonly #waves: { total: number; open: number }[] = []
  #movedAt = 0
  /** The nodes of the job, as far as `upsert` and `observe` were shown them. */
  readonly nodes = new NodeCensus()

  get size(): number {
    return this.#entries.size
  }

  /** When a task last began, was let go on, or ended, API time in ms; it never goes back. */
  get movedAt(): number {
    return this.#movedAt
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name)
  }

  names(): IterableIterator<string> {
    return this.#entries.keys()
  }

  /** The tasks of a wave that are to be upgraded, and those of them that have not ended. */
  wave(index: number): { total: number; open: number } {
    return (this.#waves[index] ??= { total: 0, open: 0 })
  }

  /** Tasks in a state, by their order in the job. */
  in(state: TaskState): SortedList<Entry> {
    let list = this.#byState.get(state)
    if (!list) this.#byState.set(state, (list = new SortedList(byOrder)))
    return list
  }

  /** The first `count` tasks in the order of rows. */
  rows(count: number): readonly NodeUpgradeTask[] {
    const rows: NodeUpgradeTask[] = []
    for (const list of this.#ranks) {
      for (const entry of list.first(count - rows.length)) rows.push(entry.task)
    }
    return rows
  }

  /** Tasks that failed. */
  *failed(): Generator<Entry> {
    for (const rank of [0, 1]) yield* this.#ranks[rank] ?? []
  }

  /** Puts a task as it stands now, with its node; API time in ms. */
  upsert(task: NodeUpgradeTask, now: number, node?: SlimNode): void {
    this.remove(task.metadata.name)
    const entry = entryOf(task, now)
    this.#entries.set(entry.name, entry)
    this.in(entry.state).add(entry)
    this.#ranks[entry.rank]?.add(entry)
    count(this.counts, entry, 1)
    this.#countWave(entry, 1)
    this.#movedAt = Math.max(this.#movedAt, movedAt(task))
    this.nodes.join(task)
    this.observe(entry.nodeName, node)
  }

  /** Looks at a node again, of whatever job; true when it counts otherwise than before. */
  observe(nodeName: string, node: SlimNode | undefined): boolean {
    const before = this.nodes.down
    const owner = node?.hold && this.#entries.get(node.hold.task)
    this.nodes.observe(nodeName, node, owner !== undefined && holds(node, owner.task))
    return this.nodes.down !== before
  }

  remove(name: string): void {
    const entry = this.#entries.get(name)
    if (!entry) return
    this.#entries.delete(name)
    this.in(entry.state).remove(entry)
    this.#ranks[entry.rank]?.remove(entry)
    count(this.counts, entry, -1)
    this.#countWave(entry, -1)
    this.nodes.leave(entry.task)
  }

  #countWave({ wave, state, task }: Entry, by: 1 | -1): void {
    if (task.spec.verdict !== 'Run') return
    const counts = this.wave(wave)
    counts.total += by
    if (state !== 'ended') counts.open += by
  }
}

function entryOf(task: NodeUpgradeTask, now: number): Entry {
  return {
    name: task.metadata.name,
    nodeName: task.spec.nodeName,
    order: task.spec.order,
    wave: task.spec.wave ?? 0,
    attempt: statusOf(task).attempt ?? 0,
    state: taskState(task, now),
    rank: rankOf(task),
    task,
  }
}

/** The attempts' ends are in it: an attempt that is followed by another ends no task. */
function movedAt(task: NodeUpgradeTask): number {
  const { startTime, hold, completionTime, attempts = [] } = statusOf(task)
  return Math.max(...[startTime, hold, completionTime, attempts.at(-1)?.time].map(timeOf))
}

function rankOf(task: NodeUpgradeTask): number {
  const { phase, reason } = statusOf(task)
  if (phase === 'Failure') return reason === 'RollbackFailed' ? 0 : 1
  if (phase === 'Unknown') return 2
  return phase === 'InProgress' ? 3 : 4
}

function count(counts: Counts, { task, state }: Entry, by: 1 | -1): void {
  const { phase, reason, outcome, edge } = statusOf(task)
  if (task.metadata.finalizers?.length) counts.held += by
  if (reason === 'NotPlanned') return
  counts[PHASE_COUNT[phase]] += by
  if (phase === 'Cancelled') counts.cancelled += by
  if (phase === 'Skipped' && (reason === 'AlreadyAtVersion' || reason === 'Excluded')) counts.needless += by
  if (phase === 'Skipped' && reason === 'Stopped') counts.stopped += by
  if (phase === 'Failure' && outcome === 'RolledBack') counts.rolledBack += by
  if (state === 'unreachable' || (phase === 'Pending' && reason === 'Offline')) counts.offline += by
  if (edge?.late?.length) counts.late += by
  if ((phase === 'Failure' || phase === 'Unknown') && countsAtOnce(task)) counts.counted += by
}

function countsAtOnce(task: NodeUpgradeTask): boolean {
  const { reason } = statusOf(task)
  return !isReason(reason) || REASONS[reason].counts === 'always'
}

function noCounts(): Counts {
  return {
    pending: 0,
    inProgress: 0,
    successful: 0,
    failed: 0,
    unknown: 0,
    skipped: 0,
    cancelled: 0,
    needless: 0,
    stopped: 0,
    rolledBack: 0,
    offline: 0,
    late: 0,
    counted: 0,
    held: 0,
  }
}

function byOrder(left: Entry, right: Entry): number {
  return left.order - right.order || compareText(left.name, right.name)
}

function byNode(left: Entry, right: Entry): number {
  return compareText(left.nodeName, right.nodeName) || compareText(left.name, right.name)
}

function byStart(left: Entry, right: Entry): number {
  return compareText(startOf(left), startOf(right)) || byNode(left, right)
}

/** RFC 3339 in UTC sorts as text. */
function startOf({ task }: Entry): string {
  return statusOf(task).hold ?? statusOf(task).startTime ?? ''
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
