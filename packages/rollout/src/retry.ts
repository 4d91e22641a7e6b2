import type { End } from './conclude.ts'
import type { TaskDecision, TaskView } from './decisions.ts'
import { haltOfTask, isFinished } from './halt.ts'
import { jobPlan, specProblem } from './job-plan.ts'
import { REASONS, type Reason } from './reasons.ts'
import { reopenPatch, TRIED_AGAIN } from './task-patches.ts'
import { isEnd, statusOf } from './task-state.ts'

/** A task stores so many attempts. */
const MAX_ATTEMPTS = 16
const MAX_PAUSE_MS = 3_600_000
/** Failures that another attempt meets again, or makes worse. */
const NEVER_AGAIN: readonly Reason[] = ['RollbackFailed', 'NodeGone', 'TagMoved', 'DigestMismatch']

/**
 * How long to wait before the next attempt of a task that failed, in ms; undefined when there is none. Only a failure whose end
 * is known is tried again, so that no two attempts ever run on one node.
 */
export function retryPauseMs(view: TaskView, end: End): number | undefined {
  const { job, task } = view
  if (!job || specProblem(job.spec) || !goesOn(view)) return undefined
  const { phase, attempt = 0, attempts = [] } = statusOf(task)
  // An end that turns out to be another may meet the end of its job: it is told, and control.retry opens it again.
  if (isEnd(phase)) return undefined
  const isKnown = end.phase === 'Failure' && REASONS[end.reason].usesAttempt && attempt > 0
  if (!isKnown || NEVER_AGAIN.includes(end.reason) || attempt >= MAX_ATTEMPTS) return undefined
  const { limit, backoffSeconds } = jobPlan(job).retry
  const used = attempts.filter(({ outcome = '' }) => TRIED_AGAIN.includes(outcome)).length
  return used < limit ? Math.min(MAX_PAUSE_MS, backoffSeconds * 1000 * 2 ** used) : undefined
}

/**
 * Whether a failed task is to be opened again, because `control.retry` was raised above what it has had. A job does not end
 * before: raising `retry` changes the job, so that its end and a reopening never cross.
 */
export function isReopenable({ job, task, node }: Pick<TaskView, 'job' | 'task' | 'node'>): boolean {
  const { phase, attempt = 0, retried = 0 } = statusOf(task)
  const isAsked =
    phase === 'Failure' && task.spec.purpose === 'Upgrade' && (job?.control?.retry ?? 0) > retried
  return (
    isAsked &&
    attempt > 0 &&
    attempt < MAX_ATTEMPTS &&
    goesOn({ job, task }) &&
    node?.uid === task.spec.nodeUID
  )
}

/** Opens a failed task again. */
export function reopen(view: TaskView): TaskDecision | undefined {
  if (!isReopenable(view)) return undefined
  const { retried = 0 } = statusOf(view.task)
  return { write: { target: 'status', status: reopenPatch(view.task, retried + 1) } }
}

function goesOn({ job, task }: Pick<TaskView, 'job' | 'task'>): boolean {
  if (!job || isFinished(job) || task.metadata.deletionTimestamp) return false
  const halt = haltOfTask(task, job)
  return halt === 'none' || halt === 'paused'
}
