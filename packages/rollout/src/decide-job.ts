import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import { withConditions } from './conditions.ts'
import { decideRun } from './decide-run.ts'
import type { HubEvent } from './decisions.ts'
import { expiresAt } from './expiry.ts'
import { isFinished, type StopReason } from './halt.ts'
import type { JobIndex } from './job-index.ts'
import { jobPlan } from './job-plan.ts'
import { differences, type JobStatusPatch } from './job-status.ts'
import { RELEASE_FINALIZER } from './names.ts'
import { nodeCount } from './node-count.ts'
import type { SlimNode } from './slim-node.ts'
import { type Standing, standingOf } from './standing.ts'
import { planHash } from './task-object.ts'

/** How often a finished job that is kept looks whether it still is. */
const LOOK_AGAIN_MS = 3_600_000

/** All that a decision on one job looks at. Times are API time in ms. */
export interface JobView {
  readonly job: NodeUpgradeJob
  readonly index: JobIndex
  /** The tasks that take upgrades back; undefined where there can be none. */
  readonly back?: JobIndex
  readonly node: (name: string) => SlimNode | undefined
  readonly now: number
  /** A leader that is new waits before it plans, until no create of its forerunner can arrive. */
  readonly mayPlan: boolean
  /** How many jobs have finished after this one; asked of finished jobs only. */
  readonly newer?: number
  /** Planned tasks that the index lacks are known to be gone, not only late. */
  readonly complete: boolean
  /** When the status and a release were last written; 0 for never. */
  readonly pace: { readonly flushedAt: number; readonly releasedAt: number }
}

export type JobWrite =
  | { readonly target: 'finalizers'; readonly finalizers: readonly string[] }
  /** Create the tasks, then write `planPatch`. */
  | { readonly target: 'plan' }
  /** Its time after the end is over. */
  | { readonly target: 'delete' }
  /** Create the tasks that take upgrades back, then write `rollBackPatch`. */
  | { readonly target: 'rollback'; readonly reason: StopReason }
  | {
      readonly target: 'status'
      readonly status: JobStatusPatch
      readonly flush: boolean
      readonly release: boolean
    }

/** At most one write, under the resourceVersion of the job that the decision saw. */
export interface JobDecision {
  readonly write?: JobWrite
  readonly events?: readonly HubEvent[]
  /** Tasks that may prepare now. */
  readonly prepare?: readonly string[]
  /** Tasks that the job has released and that are not yet taken. */
  readonly release?: readonly string[]
  /** Count the tasks on the API server: some that were planned are not known. */
  readonly verifyMembers?: boolean
  readonly wakeAt?: number
}

/** What is to be done next about one job. The caller has made sure that the stored schema is ours. */
export function decideJob(view: JobView): JobDecision {
  const { job } = view
  if (job.metadata.deletionTimestamp) return decideDeletion(view)
  if (isFinished(job)) return refreshFinished(view)
  const standing = standingOf(job, view.now)
  if (!standing.accepted) return decline(view, standing)
  const finalizers = job.metadata.finalizers ?? []
  if (!finalizers.includes(RELEASE_FINALIZER)) {
    return { write: { target: 'finalizers', finalizers: [...finalizers, RELEASE_FINALIZER] } }
  }
  if (job.status?.plan?.total === undefined) return view.mayPlan ? { write: { target: 'plan' } } : {}
  return decideRun(view)
}

/** The commit point of a job: from here on its membership is only read. All tasks must exist. */
export function planPatch(job: NodeUpgradeJob, taskNames: readonly string[], now: number): JobStatusPatch {
  const total = taskNames.length
  const message = `${nodeCount(total)} to upgrade to ${jobPlan(job).version}`
  return {
    phase: 'InProgress',
    state: 'upgrading',
    observedGeneration: job.metadata.generation ?? 0,
    conditions: withConditions(job, [{ type: 'Accepted', status: true, reason: 'Accepted', message }], now),
    startTime: job.status?.startTime ?? rfc3339(now),
    progress: `0/${total}`,
    image: { reference: jobPlan(job).image },
    plan: { total, hash: planHash(taskNames) },
  }
}

/**
 * Tasks that were created after the plan was complete: the newest, as many as there are too many, if the hash says that the rest
 * is the plan. To be asked only when there are more tasks than planned.
 */
export function notPlanned(job: NodeUpgradeJob, index: JobIndex): ReadonlySet<string> {
  const plan = job.status?.plan
  const extra = plan?.total === undefined ? 0 : index.size - plan.total
  if (extra <= 0) return new Set()
  const entries = [...index.names()].flatMap((name) => index.get(name) ?? [])
  const newestFirst = entries.sort((left, right) => createdAt(right).localeCompare(createdAt(left)))
  const rest = newestFirst.slice(extra).map((entry) => entry.name)
  return planHash(rest) === plan?.hash
    ? new Set(newestFirst.slice(0, extra).map((entry) => entry.name))
    : new Set()
}

/** A job that is to go is a cancelled one; it goes when nothing of it is left on any node. */
function decideDeletion(view: JobView): JobDecision {
  const { job, index } = view
  const finalizers = job.metadata.finalizers ?? []
  if (!finalizers.includes(RELEASE_FINALIZER)) return {}
  const counts = [index, ...(view.back ? [view.back] : [])].map((tasks) => tasks.counts)
  const left = (what: 'pending' | 'inProgress' | 'held') => counts.reduce((sum, of) => sum + of[what], 0)
  const open = left('pending') + left('inProgress')
  if (open + left('held') === 0) {
    return {
      write: { target: 'finalizers', finalizers: finalizers.filter((name) => name !== RELEASE_FINALIZER) },
    }
  }
  const runs = job.status?.plan?.total !== undefined && !isFinished(job) && standingOf(job, view.now).accepted
  return runs && open > 0 ? decideRun(view) : {}
}

/** Terminal conditions never flip; an edit of `control` is only seen to have been seen. */
function refreshFinished({ job, now, newer = 0 }: JobView): JobDecision {
  const generation = job.metadata.generation ?? 0
  const wakeAt = expiresAt(job, newer)
  if (wakeAt !== undefined && now >= wakeAt) return { write: { target: 'delete' } }
  // Nothing tells an old job that another one has ended after it.
  if (job.status?.observedGeneration === generation) return { wakeAt: wakeAt ?? now + LOOK_AGAIN_MS }
  const status = { observedGeneration: generation, conditions: withConditions(job, [], now) }
  return { write: { target: 'status', status, flush: false, release: false } }
}

/** Says once why a job is not run, and touches nothing else of it. */
function decline({ job, now }: JobView, { reason, message }: Standing): JobDecision {
  const say = { type: 'Accepted', status: false, reason, message }
  const status = differences(job.status ?? {}, {
    observedGeneration: job.metadata.generation ?? 0,
    conditions: withConditions(job, [say], now),
  })
  if (!status) return {}
  return {
    write: { target: 'status', status, flush: false, release: false },
    events: [{ on: 'job', type: 'Warning', reason, note: message }],
  }
}

function createdAt({ task }: { task: { metadata: { creationTimestamp?: string } } }): string {
  return task.metadata.creationTimestamp ?? ''
}
