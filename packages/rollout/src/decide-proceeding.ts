import { type End, endOf, refusalOf, resultEnd } from './conclude.ts'
import type { TaskDecision, TaskView } from './decisions.ts'
import { again, finish } from './finish.ts'
import { haltOfTask } from './halt.ts'
import { REASONS } from './reasons.ts'
import { cancelPatch, verifyUntil } from './task-patches.ts'
import { currentAnswer, holds, resultOf, statusOf, timeOf } from './task-state.ts'

/**
 * A task with a stored `proceed`: the agent may be stopped at any moment, so only a result, a refusal, an answered cancel or the
 * deadline ends it. It is never taken again.
 */
export function decideProceeding(view: TaskView): TaskDecision {
  const end = conclusion(view)
  if (end?.phase === 'Pending') return isCancelled(view) ? finish(view, endOf('Cancelled')) : again(view, end)
  if (end) return finish(view, end)
  const { task, now } = view
  if (isCancelled(view) && mayAskToCancel(view))
    return { write: { target: 'status', status: cancelPatch(task) } }
  const note = noteHoldLost(view)
  if (note) return note
  const deadline = timeOf(statusOf(task).deadline)
  return { wakeAt: resultOf(task) ? verifyUntil(task, view.resultSeenAt ?? now) : deadline }
}

function conclusion(view: TaskView): End | undefined {
  const { task, node, now } = view
  const status = statusOf(task)
  const result = resultOf(task)
  if (result) {
    const end = resultEnd(task, result, node)
    return end ?? (now >= verifyUntil(task, view.resultSeenAt ?? now) ? endOf('NotVerified') : undefined)
  }
  const answer = currentAnswer(status)
  const { verb } = status.intent ?? {}
  if (verb === 'proceed' && answer?.value === 'refused') return refusalOf(answer.code, answer.reason)
  // To a `proceed` an edge may say `done` before its result is stored: only the result tells how it ended.
  const gaveUp = answer?.value === 'done' || answer?.value === 'tombstoned'
  if (verb === 'cancel' && gaveUp) return endOf('Cancelled')
  return now >= timeOf(status.deadline) ? timedOut(view) : undefined
}

/** A mark that somebody else removed is not put back, only said. */
function timedOut({ task }: TaskView): End {
  const end = endOf('TimedOut')
  const isLost = statusOf(task).reason === 'HoldLost'
  return isLost ? { ...end, message: `${end.message}; HoldLost: ${REASONS.HoldLost.sentence}` } : end
}

function noteHoldLost({ node, task }: TaskView): TaskDecision | undefined {
  if (holds(node, task) || resultOf(task) || statusOf(task).reason === 'HoldLost') return undefined
  const { sentence } = REASONS.HoldLost
  return { write: { target: 'status', status: { reason: 'HoldLost', message: sentence } } }
}

function isCancelled({ job, task }: TaskView): boolean {
  return haltOfTask(task, job) === 'cancelled' || task.metadata.deletionTimestamp !== undefined
}

function mayAskToCancel({ task }: TaskView): boolean {
  return statusOf(task).intent?.verb !== 'cancel' && !resultOf(task)
}
