import type { NodeUpgradeJobStatus } from '@upgrade-hub/api'
import { fitting, limitsOf } from './budget.ts'
import type { JobView } from './decide-job.ts'
import { earliest } from './earliest.ts'
import type { Entry } from './job-index.ts'
import type { JobPlan } from './job-plan.ts'
import { windowOn } from './node-window.ts'
import { currentAnswer, holds, statusOf } from './task-state.ts'

type Releasing = NonNullable<NodeUpgradeJobStatus['releasing']>

/** What the budget allows now. */
export interface Release {
  /** Entries of `status.releasing` that are still needed. */
  readonly kept: Releasing
  /** Those and the new ones. */
  readonly wanted: Releasing
  readonly added: number
  /** Tasks with an entry that are not yet taken. */
  readonly taking: readonly string[]
  /** Tasks that may prepare now. */
  readonly prepare: readonly string[]
  /** Nothing upgrades, prepares, or is about to. */
  readonly idle: boolean
  /** Something is ready, and does not fit. */
  readonly braked: boolean
  /** Prepared nodes whose own window is closed. */
  readonly outside: number
  /** The digest to be pinned with the first release. */
  readonly digest?: string
  /** When the window of a node that waits for it turns. */
  readonly wakeAt?: number
}

/** How far a job may go. */
export interface Way {
  readonly halted: boolean
  /** The wave that is on, and the last whose tasks may begin. */
  readonly current: number
  readonly frontier: number
}

/**
 * Slots in use are the entries of `releasing` and the tasks that were told to proceed. Prepared tasks get free slots in their
 * order; others may prepare meanwhile, as many as `prepareAhead`. A node that another upgrade holds keeps no place.
 */
export function releaseOf(view: JobView, plan: JobPlan, { halted, current, frontier }: Way): Release {
  const { job, index } = view
  const prepared = [...index.in('prepared')]
  const kept = (job.status?.releasing ?? []).filter((entry) => isNeeded(view, plan, entry))
  const has = new Set(kept.map((entry) => entry.task))
  const taken = prepared.filter((entry) => !has.has(entry.name) && isOwn(view, entry))
  const taking = kept.map((entry) => entry.task)
  if (halted)
    return { kept, wanted: kept, added: 0, taking, prepare: [], idle: false, braked: false, outside: 0 }

  const free = prepared
    .filter((entry) => !has.has(entry.name) && entry.wave <= frontier && isFree(view, entry))
    .map((entry) => ({ entry, window: windowOn(plan, entry.task, view.now) }))
  const ready = free.flatMap(({ entry, window }) => (window.isOpen ? entry : []))
  const digest = job.status?.image?.digest ?? digestOf(ready)
  const wave = { index: current, total: index.wave(current).total }
  const limits = limitsOf(plan, job.status?.plan?.total ?? 0, wave)
  const releasing = kept.flatMap((entry) => index.get(entry.task)?.nodeName ?? [])
  const inUse = { inProgress: index.counts.inProgress, taken: taken.length, releasing }
  const fit = ready.filter((entry) => sameDigest(entry, digest))
  const next = fitting(fit, { limits, inUse, index })
  const ahead = limits.ahead - index.in('preparing').size - (ready.length - next.length)
  const prepare = index
    .in('waiting')
    .first(ahead)
    .filter((entry) => entry.wave <= frontier)
    .map((entry) => entry.name)
  const busy = index.counts.inProgress + taken.length + kept.length + index.in('preparing').size
  return {
    kept,
    wanted: [...kept, ...next.map((entry) => ({ task: entry.name, attempt: entry.attempt }))],
    added: next.length,
    taking,
    prepare,
    idle: busy + next.length + prepare.length === 0,
    braked: fit.length > 0,
    outside: free.length - ready.length,
    ...(digest && !job.status?.image?.digest ? { digest } : {}),
    ...earliest(free.map(({ window }) => window.until)),
  }
}

/** The same, but that nothing new begins. */
export function withoutNew(release: Release): Release {
  return { ...release, wanted: release.kept, added: 0, prepare: [] }
}

/**
 * Until the task stores `proceed`, ends, or is in the queue again; and not while another upgrade holds its node, nor when its
 * window has closed before it was taken.
 */
function isNeeded(
  { index, node, now }: JobView,
  plan: JobPlan,
  { task, attempt }: Releasing[number],
): boolean {
  const entry = index.get(task)
  if (entry?.state !== 'prepared' || entry.attempt !== attempt) return false
  const at = node(entry.nodeName)
  return holds(at, entry.task) || (at?.hold === undefined && windowOn(plan, entry.task, now).isOpen)
}

/** Taken, though the entry is lost: it still uses a slot. */
function isOwn({ node }: JobView, { nodeName, task }: Entry): boolean {
  return holds(node(nodeName), task)
}

function isFree({ node }: JobView, { nodeName, task }: Entry): boolean {
  const at = node(nodeName)
  return at !== undefined && at.uid === task.spec.nodeUID && at.ready && !at.deleting && at.hold === undefined
}

/** The digest that the first task which may go on reported. */
function digestOf(ready: readonly Entry[]): string | undefined {
  return ready
    .filter(({ task }) => task.spec.purpose === 'Upgrade')
    .map(({ task }) => currentAnswer(statusOf(task))?.indexDigest)
    .find((digest) => digest)
}

function sameDigest({ task }: Entry, pinned: string | undefined): boolean {
  const digest = currentAnswer(statusOf(task))?.indexDigest
  return task.spec.purpose === 'RollBack' || !pinned || !digest || digest === pinned
}
