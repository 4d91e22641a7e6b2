import { type End, endOf } from './conclude.ts'
import type { HubEvent, TaskDecision, TaskView } from './decisions.ts'
import { haltOfTask } from './halt.ts'
import { staysCordoned } from './kept.ts'
import { restorePatch } from './node-patches.ts'
import { retryPauseMs } from './retry.ts'
import type { SlimNode } from './slim-node.ts'
import { againPatch, endPatch, isSpent, retryPatch, shownEnd } from './task-patches.ts'
import { holds, statusOf } from './task-state.ts'

/** Attempts that may end in a result which asks to be tried again; a task stores 16. */
const MAX_SPENT = 8

/**
 * Ends a task, or its attempt where the job grants another: first the node is let go of, then the end is written, so that
 * nothing stays marked for an ended task. A node that is to stay cordoned is let go of when its end is stored: until then the
 * end may still become another one. So is one whose end is known from its being held alone (`whileHeld`).
 */
export function finish(view: TaskView, end: End, { whileHeld = false } = {}): TaskDecision {
  const { task, node, now } = view
  if (end.phase === 'Cancelled' && !isAskedToEnd(view)) return again(view, endOf('PreparedStale'))
  const pauseMs = retryPauseMs(view, end)
  if (pauseMs !== undefined) return tryAgain(view, end, { pauseMs, whileHeld })
  const isHeld = node !== undefined && holds(node, task)
  if (isHeld && !whileHeld && !staysCordoned(view.job, end))
    return { write: { target: 'node', patch: letGo(node, end) } }
  return {
    write: { target: 'status', status: endPatch(task, end, now) },
    events: endEvents(view, shownEnd(task, end)),
  }
}

/** An edge gives up by itself what it has kept for too long: that is no reason to leave its node out. */
function isAskedToEnd({ task, job }: TaskView): boolean {
  return haltOfTask(task, job) === 'cancelled' || task.metadata.deletionTimestamp !== undefined
}

function tryAgain(
  { task, node, now }: TaskView,
  end: End,
  { pauseMs, whileHeld }: { pauseMs: number; whileHeld: boolean },
): TaskDecision {
  if (node && holds(node, task) && !whileHeld) return { write: { target: 'node', patch: restorePatch(node) } }
  const attempt = (statusOf(task).attempt ?? 0) + 1
  const note = `${task.spec.nodeName}: ${end.reason}: ${end.message}; attempt ${attempt} follows in ${pauseMs / 1000} s`
  return {
    write: { target: 'status', status: retryPatch(task, end, now, pauseMs) },
    events: [{ on: 'job', type: 'Warning', reason: 'NodeRetried', note }],
  }
}

/** Puts a task back in the queue, the node let go of first. An edge that goes on spending attempts is not asked for ever. */
export function again(view: TaskView, end: End): TaskDecision {
  const { task, node, now } = view
  const spent = isSpent(task) && (statusOf(task).attempt ?? 0) >= MAX_SPENT
  if (spent) return finish(view, { ...endOf('FailedBeforeChange'), message: end.message })
  if (node && holds(node, task)) return { write: { target: 'node', patch: restorePatch(node) } }
  return { write: { target: 'status', status: againPatch(task, end, now) } }
}

function letGo(node: SlimNode, end: End) {
  const upgrade =
    end.phase === 'Successful' && end.from && end.to ? { from: end.from, to: end.to } : undefined
  return restorePatch(node, { isGood: end.phase === 'Successful', ...(upgrade ? { upgrade } : {}) })
}

/** The events of an end, on the job and on the node; none for what never had its turn. */
function endEvents(view: TaskView, end: End): HubEvent[] {
  const isBack = view.task.spec.purpose === 'RollBack' && end.phase === 'Successful'
  const word = isBack ? 'NodeRolledBack' : eventWord(end)
  if (!word) return []
  const type = word === 'NodeUpgraded' || word === 'NodeSkipped' ? 'Normal' : 'Warning'
  const { jobName, nodeName, version } = view.task.spec
  return [
    { on: 'job', type, reason: word, note: `${nodeName}: ${end.reason}: ${end.message}` },
    ...(view.node
      ? [
          {
            on: 'node' as const,
            type,
            reason: word,
            note: `${jobName} to ${version}: ${end.reason}: ${end.message}`,
          } as const,
        ]
      : []),
  ]
}

function eventWord({ phase, outcome, reason }: End): string | undefined {
  if (phase === 'Successful') return 'NodeUpgraded'
  if (phase === 'Skipped') return reason === 'Stopped' ? undefined : 'NodeSkipped'
  if (phase === 'Cancelled') return undefined
  if (outcome === 'RolledBack') return 'NodeRolledBack'
  if (outcome === 'RollbackFailed') return 'RollBackFailed'
  return phase === 'Unknown' ? 'NodeTimedOut' : 'NodeFailed'
}
