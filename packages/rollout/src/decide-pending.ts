import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import { type End, endOf, refusalOf, resultEnd } from './conclude.ts'
import type { TaskDecision, TaskView } from './decisions.ts'
import { drainStep } from './drain.ts'
import { again, finish } from './finish.ts'
import { haltOfTask } from './halt.ts'
import { type JobPlan, jobPlan, specProblem } from './job-plan.ts'
import { restorePatch, takePatch } from './node-patches.ts'
import { windowOn } from './node-window.ts'
import { isReason, REASONS } from './reasons.ts'
import type { SlimNode } from './slim-node.ts'
import { prepareMs, preparePatch, proceedPatch, verifyUntil } from './task-patches.ts'
import {
  currentAnswer,
  edgeSpoke,
  holds,
  resultOf,
  statusOf,
  taskState,
  timeOf,
  UNREACHABLE_AFTER_MS,
} from './task-state.ts'

/** A task without a stored `proceed`: whatever happens, the agent on the node was not touched. */
export function decidePending(view: TaskView): TaskDecision {
  const halt = haltOfTask(view.task, view.job)
  const { spec } = view.task
  if (spec.verdict === 'Refused') return finish(view, verdictEnd(view))
  if (!view.planned) return finish(view, endOf('NotPlanned'))
  if (resultOf(view.task)) return decideAnswered(view)
  if (halt === 'cancelled' || view.task.metadata.deletionTimestamp) return finish(view, endOf('Cancelled'))
  if (halt === 'stopped') return finish(view, endOf('Stopped'))
  // A spec that somebody has broken: nothing is begun by it, and nothing stays closed for it.
  if (!view.job || specProblem(view.job.spec)) return releaseStrayHold(view) ?? {}
  return decideRunning(view, jobPlan(view.job), halt === 'paused')
}

function decideRunning(view: TaskView, plan: JobPlan, paused: boolean): TaskDecision {
  const { task, now } = view
  if (isToSkip(view, plan))
    return finish(view, { ...endOf('Busy', undefined, 'Skipped'), outcome: 'Skipped' })
  switch (taskState(task, now)) {
    case 'waiting':
      return releaseStrayHold(view) ?? (view.mayPrepare && !paused ? prepare(view) : {})
    case 'resting':
      return releaseStrayHold(view) ?? { wakeAt: timeOf(statusOf(task).deadline) }
    case 'confirming':
      return releaseStrayHold(view) ?? awaitConfirmed(view, plan)
    case 'preparing':
    case 'unreachable':
      return releaseStrayHold(view) ?? awaitPrepared(view, plan)
    case 'answered':
      return decideAnswered(view)
    case 'prepared':
      return decidePrepared(view, plan, paused)
    default:
      return {}
  }
}

/** Another upgrade holds the node, or the node has said so, and the job does not wait for that. */
function isToSkip({ task, node }: TaskView, { busyPolicy }: JobPlan): boolean {
  if (busyPolicy === 'Wait') return false
  const answer = currentAnswer(statusOf(task))
  const isHeld = node?.hold !== undefined && !holds(node, task)
  return isHeld || (answer?.value === 'refused' && answer.code === 'Busy')
}

/** Between a refused `proceed` and the next `prepare` a node is never ours. */
function releaseStrayHold({ node, task }: TaskView): TaskDecision | undefined {
  return node && holds(node, task) ? { write: { target: 'node', patch: restorePatch(node) } } : undefined
}

function prepare({ task, node, job, now }: TaskView): TaskDecision {
  const digest = task.spec.purpose === 'Upgrade' ? (job?.status?.image?.digest ?? '') : ''
  return { write: { target: 'status', status: preparePatch(task, { now, node, digest }) } }
}

/**
 * Waits for `prepared`. A node that is silent for a minute, or for the whole of its own timers, is unreachable: it gives its
 * place to others, and the job's policy for offline nodes ends it.
 */
function awaitPrepared(view: TaskView, plan: JobPlan): TaskDecision {
  const { task, now } = view
  const status = statusOf(task)
  const begun = timeOf(status.startTime)
  const spoke = edgeSpoke(status)
  const silentAt = begun + (spoke ? prepareMs(task) : UNREACHABLE_AFTER_MS)
  if (status.reason !== 'Unreachable') return now < silentAt ? { wakeAt: silentAt } : markUnreachable()
  if (spoke && now < silentAt) return noReason()
  const giveUpAt = begun + patienceMs(plan)
  const endAt = spoke ? Math.max(giveUpAt, begun + prepareMs(task)) : giveUpAt
  if (now < endAt) return { wakeAt: endAt }
  return finish(view, offlineEnd(plan, REASONS.Unreachable.sentence))
}

/** Everything is on the node and verified; the task says whom it waits for. */
function awaitConfirmed(view: TaskView, plan: JobPlan): TaskDecision {
  if (statusOf(view.task).reason === 'WaitingConfirmation') return awaitPrepared(view, plan)
  const { sentence } = REASONS.WaitingConfirmation
  return { write: { target: 'status', status: { reason: 'WaitingConfirmation', message: sentence } } }
}

/** Prepared, but the node is not Ready: it costs no place, and the job's policy for offline nodes ends it. */
function awaitReady(view: TaskView, plan: JobPlan): TaskDecision {
  const { task, now } = view
  const { reason, deadline } = statusOf(task)
  if (reason !== 'Offline') {
    const until = rfc3339(now + patienceMs(plan))
    const { sentence } = REASONS.Offline
    return { write: { target: 'status', status: { reason: 'Offline', message: sentence, deadline: until } } }
  }
  const until = timeOf(deadline)
  return now < until ? { wakeAt: until } : finish(view, offlineEnd(plan))
}

/** Prepared, and another upgrade holds the node. */
function awaitOther(task: NodeUpgradeTask): TaskDecision {
  if (statusOf(task).reason === 'Busy') return {}
  return { write: { target: 'status', status: { reason: 'Busy', message: REASONS.Busy.sentence } } }
}

function noReason(): TaskDecision {
  return { write: { target: 'status', status: { reason: null, message: null } } }
}

function patienceMs({ offline, timeoutSeconds }: JobPlan): number {
  return (offline.policy === 'Queue' ? offline.ttlSeconds : timeoutSeconds) * 1000
}

function offlineEnd({ offline }: JobPlan, message?: string): End {
  return endOf('Offline', message, offline.policy === 'Fail' ? 'Failure' : 'Skipped')
}

function markUnreachable(): TaskDecision {
  const { sentence } = REASONS.Unreachable
  return { write: { target: 'status', status: { reason: 'Unreachable', message: sentence } } }
}

/** The edge refused, or reported an end of its own accord. */
function decideAnswered(view: TaskView): TaskDecision {
  const { task, node, now } = view
  const result = resultOf(task)
  if (!result) {
    const answer = currentAnswer(statusOf(task))
    const end = refusalOf(answer?.code, answer?.reason)
    return end.phase === 'Pending' ? again(view, end) : finish(view, end)
  }
  const end = resultEnd(task, result, node)
  if (end?.phase === 'Pending') return again(view, end)
  if (end) return finish(view, end)
  const until = verifyUntil(task, view.resultSeenAt ?? now)
  return now < until ? { wakeAt: until } : finish(view, endOf('NotVerified'))
}

/**
 * Prepared and waiting. With our hold and no `proceed` the last step is finished, even while paused: the node is closed
 * already. Without a hold it is taken only when the job has recorded the release and nothing forbids it since.
 */
function decidePrepared(view: TaskView, plan: JobPlan, paused: boolean): TaskDecision {
  const { job, task, node, now } = view
  const pinned = task.spec.purpose === 'Upgrade' && job?.status?.image?.digest
  const digest = currentAnswer(statusOf(task))?.indexDigest
  if (pinned && digest && digest !== pinned) return finish(view, endOf('TagMoved'))
  if (!node) return {}
  const { isOpen, until } = windowOn(plan, task, now)
  if (holds(node, task)) {
    // Taken, and then the window closed before the permission was stored: the node is let go of, untouched.
    if (!isOpen) return { write: { target: 'node', patch: restorePatch(node) } }
    const proceed = proceedPatch(task, node, { now, ...(until ? { until } : {}) })
    return drainFirst(view, plan, node) ?? { write: { target: 'status', status: proceed } }
  }
  if (!node.ready) return awaitReady(view, plan)
  if (node.hold) return awaitOther(task)
  if (statusOf(task).reason) return noReason()
  if (!view.released || paused || !isOpen || node.deleting) return {}
  const cordon = plan.isolation !== 'None'
  return { write: { target: 'node', patch: takePatch(node, task, { cordon, now }) } }
}

/** Undefined when the node is empty, or need not be. */
function drainFirst(view: TaskView, plan: JobPlan, node: SlimNode): TaskDecision | undefined {
  if (plan.isolation !== 'Drain') return undefined
  const { task, now, pods } = view
  const step = drainStep(plan, pods, { now, takenAt: timeOf(node.hold?.takenAt) })
  if (step.kind === 'unread') return { needsPods: true }
  if (step.kind === 'empty') return undefined
  if (step.kind === 'ends') return finish(view, step.end, { whileHeld: true })
  if (statusOf(task).reason !== 'Draining')
    return { write: { target: 'status', status: { reason: 'Draining', message: step.message } } }
  return { evict: step.evict, wakeAt: step.wakeAt }
}

function verdictEnd({ task, job }: TaskView) {
  const { reason, message } = task.spec
  const known = isReason(reason) ? reason : 'BadRequest'
  const failsOffline = known === 'Offline' && job?.spec?.upgradeHub?.offline?.policy === 'Fail'
  return endOf(known, message, failsOffline ? 'Failure' : undefined)
}
