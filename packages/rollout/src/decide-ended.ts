import { resultEnd } from './conclude.ts'
import type { TaskDecision, TaskView } from './decisions.ts'
import { finish } from './finish.ts'
import { isFinished } from './halt.ts'
import { endedPatch } from './kept.ts'
import { RELEASE_FINALIZER } from './names.ts'
import { reopen } from './retry.ts'
import { currentAnswer, edgeSpoke, holds, resultOf, statusOf, timeOf } from './task-state.ts'

/** How long a deletion waits for an edge to say that it gave up; one that comes back later learns it from its welcome. */
const CANCEL_PATIENCE_MS = 30_000

/** What may still be due after the end: an open mark, the truth about an unknown end, the finalizer. */
export function decideEnded(view: TaskView): TaskDecision {
  const { task, node, job } = view
  if (node && holds(node, task)) return { write: { target: 'node', patch: endedPatch(node, task, job) } }
  return turnToTruth(view) ?? reopen(view) ?? settleCancel(view) ?? dropFinalizer(view) ?? {}
}

/** `Unknown` turns once, and only while the job is open; later it is the channel that notes it in `edge.late`. */
function turnToTruth(view: TaskView): TaskDecision | undefined {
  const { job, task, node } = view
  if (statusOf(task).phase !== 'Unknown' || !job || isFinished(job)) return undefined
  const result = resultOf(task)
  const end = result ? resultEnd(task, result, node) : undefined
  return end?.phase === 'Successful' || end?.phase === 'Failure' ? finish(view, end) : undefined
}

function settleCancel({ task }: TaskView): TaskDecision | undefined {
  const status = statusOf(task)
  if (status.active !== 'true') return undefined
  const waits = status.intent?.verb === 'cancel' && !currentAnswer(status) && !resultOf(task)
  return waits ? undefined : { write: { target: 'status', status: { active: 'false' } } }
}

/** Once the job or the task is to go, and nothing of it is left anywhere. */
function dropFinalizer({ job, task, now }: TaskView): TaskDecision | undefined {
  const { deletionTimestamp, finalizers = [] } = task.metadata
  const leaving = deletionTimestamp !== undefined || !job || job.metadata.deletionTimestamp !== undefined
  if (!leaving || !finalizers.includes(RELEASE_FINALIZER)) return undefined
  const status = statusOf(task)
  const patientUntil = timeOf(status.completionTime) + CANCEL_PATIENCE_MS
  if (status.active === 'true' && edgeSpoke(status) && now < patientUntil) return { wakeAt: patientUntil }
  return {
    write: { target: 'finalizers', finalizers: finalizers.filter((name) => name !== RELEASE_FINALIZER) },
  }
}
