import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import { type End, endOf } from './conclude.ts'
import type { TaskPatch } from './decisions.ts'
import { isReason, type Reason } from './reasons.ts'
import type { SlimNode } from './slim-node.ts'
import { currentAnswer, edgeSpoke, resultOf, statusOf, timeOf } from './task-state.ts'

const MAX_SENTENCE = 1024
/** How long a permission to proceed is good for, from the moment it is stored. */
export const PERMISSION_MS = 120_000
/** What the hub adds to the edge's own timers before it stops waiting. */
export const GRACE_MS = 60_000
/** How long a node rests after its first refusal that may pass, and at most: a person may hold it for days. */
const REST_MS: Partial<Record<Reason, number>> = {
  Busy: 30_000,
  WindowClosed: 30_000,
  PermissionExpired: 5_000,
  PreparedStale: 2_000,
}
const MAX_REST_MS = 300_000
/** Each round of a refused node is a `prepare` and a `proceed`. */
const INTENTS_OF_A_ROUND = 2

/** The first thing that an edge hears of an attempt. A node that is not Ready cannot answer: it costs no place meanwhile. */
export function preparePatch(
  task: NodeUpgradeTask,
  { now, node, digest }: { now: number; node: SlimNode | undefined; digest: string },
): TaskPatch {
  const { attempt = 0 } = statusOf(task)
  return {
    phase: 'Pending',
    active: 'true',
    stage: 'Prepare',
    attempt: Math.max(1, attempt),
    intent: intentOf(task, 'prepare', digest ? { imageDigest: digest } : {}),
    startTime: rfc3339(now),
    deadline: rfc3339(now + prepareMs(task)),
    reason: node?.ready ? null : 'Unreachable',
    message: null,
  }
}

/** The only permission to stop the agent. It is stored before it is sent, and ends by itself: soon, and with the window. */
export function proceedPatch(
  task: NodeUpgradeTask,
  node: SlimNode,
  { now, until = Number.POSITIVE_INFINITY }: { now: number; until?: number },
): TaskPatch {
  const { edge } = statusOf(task)
  const { hold } = node
  const permission = {
    epoch: hold?.epoch ?? node.epoch,
    notAfter: rfc3339(Math.min(now + PERMISSION_MS, until)),
  }
  return {
    phase: 'InProgress',
    active: 'true',
    stage: 'Proceed',
    intent: intentOf(task, 'proceed', permission),
    hold: hold?.takenAt || rfc3339(now),
    deadline: rfc3339(now + proceedMs(task)),
    fromVersion: edge?.answer?.fromVersion ?? null,
    toVersion: task.spec.version,
    reason: null,
    message: null,
  }
}

/** Asks the edge to give up; what it answers decides. */
export function cancelPatch(task: NodeUpgradeTask): TaskPatch {
  return { active: 'true', intent: intentOf(task, 'cancel') }
}

/** The edge takes no further intent of this attempt: it has reported an end, or given it up. */
export function isSpent(task: NodeUpgradeTask): boolean {
  const answer = currentAnswer(statusOf(task))
  return resultOf(task) !== undefined || (answer?.value === 'refused' && answer.code === 'Cancelled')
}

/**
 * Back in the queue: the attempt is not used, unless the edge has stored a result for it. Some reasons rest first, so that a
 * busy node is not taken again at once.
 */
export function againPatch(task: NodeUpgradeTask, end: End, now: number): TaskPatch {
  const { attempt = 0 } = statusOf(task)
  const restMs = restOf(task, end.reason)
  const spent = isSpent(task) ? { attempt: attempt + 1, attempts: withAttempt(task, end, now) } : {}
  return {
    phase: 'Pending',
    stage: null,
    hold: null,
    deadline: restMs ? rfc3339(now + restMs) : null,
    reason: end.reason,
    message: end.message.slice(0, MAX_SENTENCE),
    ...spent,
  }
}

/** Twice as long each time that the node was asked again in vain: each costs it a check, and maybe a cordon. */
function restOf(task: NodeUpgradeTask, reason: Reason): number | undefined {
  const firstMs = REST_MS[reason]
  const rounds = Math.floor(((statusOf(task).intent?.seq ?? 1) - 1) / INTENTS_OF_A_ROUND)
  return firstMs && Math.min(MAX_REST_MS, firstMs * 2 ** Math.min(rounds, 10))
}

/** The next attempt, after a pause. What was asked of the edge is over, so it is not sent any more. */
export function retryPatch(task: NodeUpgradeTask, end: End, now: number, pauseMs: number): TaskPatch {
  const { attempt = 0 } = statusOf(task)
  return {
    phase: 'Pending',
    active: 'false',
    stage: null,
    hold: null,
    attempt: attempt + 1,
    attempts: withAttempt(task, end, now),
    deadline: rfc3339(now + pauseMs),
    reason: end.reason,
    message: end.message.slice(0, MAX_SENTENCE),
  }
}

/** An ended task is opened again, as `control.retry` asks; how it ended stays in `attempts`. */
export function reopenPatch(task: NodeUpgradeTask, retried: number): TaskPatch {
  const { attempt = 0 } = statusOf(task)
  return {
    phase: 'Pending',
    active: 'false',
    stage: null,
    attempt: attempt + 1,
    retried,
    reason: null,
    message: null,
    outcome: null,
    completionTime: null,
  }
}

/**
 * The end of a task. One that the edge may still have open stays active until the edge has given it up: what is prepared takes
 * room on the node, and a person there is not to be asked for nothing.
 */
export function endPatch(task: NodeUpgradeTask, end: End, now: number): TaskPatch {
  const status = statusOf(task)
  const from = end.from ?? status.fromVersion
  const to = end.to ?? status.toVersion
  const cancels = edgeMayWork(task) && (end.reason === 'Cancelled' || isLeftBehind(task, end))
  const shown = shownEnd(task, end)
  return {
    phase: shown.phase,
    active: cancels ? 'true' : 'false',
    ...(cancels ? { intent: intentOf(task, 'cancel') } : {}),
    ...(status.stage === 'Proceed' ? { stage: 'Release' } : {}),
    reason: shown.reason,
    message: shown.message.slice(0, MAX_SENTENCE),
    outcome: shown.outcome,
    hold: null,
    deadline: null,
    completionTime: rfc3339(now),
    ...(from ? { fromVersion: from } : {}),
    ...(to ? { toVersion: to } : {}),
    ...(status.attempt ? { attempts: withAttempt(task, end, now) } : {}),
  }
}

/** A task that failed, and whose further attempt came to nothing before it touched the node, has failed. */
export function shownEnd(task: NodeUpgradeTask, end: End): End {
  if (end.outcome !== 'Skipped' && end.outcome !== 'Cancelled') return end
  const failed = statusOf(task).attempts?.findLast(({ outcome = '' }) => TRIED_AGAIN.includes(outcome))
  return failed && isReason(failed.reason) ? endOf(failed.reason) : end
}

/** Outcomes of attempts that may be followed by another. */
export const TRIED_AGAIN = ['FailedBeforeChange', 'RolledBack']

/** The list with the current attempt's end, which is said once; only an unknown one may be said better later. */
function withAttempt(task: NodeUpgradeTask, end: End, now: number) {
  const { attempt = 0, attempts = [], fromVersion, toVersion } = statusOf(task)
  const from = end.from ?? fromVersion
  const to = end.to ?? toVersion
  const entry = {
    attempt,
    outcome: end.outcome,
    reason: end.reason,
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    time: rfc3339(now),
  }
  return [...attempts.filter((other) => other.attempt !== attempt), entry]
}

/** When the hub stops waiting for a `prepare` that the edge has begun, in ms from its start. */
export function prepareMs({ spec }: NodeUpgradeTask): number {
  const { checkSeconds = 0, downloadSeconds = 0, confirmSeconds = 0 } = spec.timeouts
  return (checkSeconds + downloadSeconds + (spec.requireConfirmation ? confirmSeconds : 0)) * 1000 + GRACE_MS
}

/** When the hub stops waiting for a result, in ms from the permission: its life, the edge's stage timers, the rollback's. */
function proceedMs({ spec }: NodeUpgradeTask): number {
  const { upgradeSeconds = 0, rollbackSeconds = 0 } = spec.timeouts
  return PERMISSION_MS + (upgradeSeconds + rollbackSeconds) * 1000 + GRACE_MS
}

/** When a reported success that is not seen on the node ends as not verified, API time in ms. */
export function verifyUntil(task: NodeUpgradeTask, seenAt: number): number {
  const verifyMs = (task.spec.timeouts.verifySeconds ?? 0) * 1000
  const deadline = timeOf(statusOf(task).deadline)
  return deadline > 0 ? Math.min(seenAt + verifyMs, deadline + GRACE_MS) : seenAt + verifyMs
}

/** The edge was told to prepare, has not refused or reported, and was not yet told to give up. */
function edgeMayWork(task: NodeUpgradeTask): boolean {
  const status = statusOf(task)
  const told = status.intent?.verb === 'prepare' || status.intent?.verb === 'proceed'
  const refused = status.stage === 'Prepare' && currentAnswer(status)?.value === 'refused'
  return told && status.phase === 'Pending' && !refused && !resultOf(task)
}

/** The edge has begun, and this end was not its own. */
function isLeftBehind(task: NodeUpgradeTask, { reason }: End): boolean {
  return reason !== 'NodeGone' && edgeSpoke(statusOf(task))
}

/** Keys of the last intent that the new one does not have are removed. */
function intentOf(task: NodeUpgradeTask, verb: string, args: Record<string, unknown> = {}) {
  const seq = (statusOf(task).intent?.seq ?? 0) + 1
  return { epoch: null, notAfter: null, imageDigest: null, ...args, seq, verb }
}
