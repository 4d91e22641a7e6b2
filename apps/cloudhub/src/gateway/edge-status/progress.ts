import type { EdgeAction, NodeUpgradeTask, TaskEdge } from '@upgrade-hub/api'
import type { Progress } from '@upgrade-hub/protocol'
import { withAction } from './actions.ts'
import { ALREADY, type EdgeDecision, edgeForAttempt, isNotDispatched, refuse } from './decision.ts'
import { clean } from './text.ts'

/** Progress moves the step on and appends what is over; once the attempt has a result there is no more to tell. */
export function decideProgress(task: NodeUpgradeTask, progress: Progress): EdgeDecision {
  if (isNotDispatched(task, progress.Attempt)) return refuse('NOT_DISPATCHED', 'this attempt was never begun')
  if (progress.Attempt < (task.status?.attempt ?? 0)) return ALREADY
  const edge = edgeForAttempt(task.status?.edge, progress.Attempt)
  if (edge.attempt > progress.Attempt) return ALREADY
  if (edge.results?.some((result) => result.attempt === progress.Attempt)) return ALREADY
  const actions = appendAction(edge.actions ?? [], progress)
  const isNewer = progress.Seq > edge.seq || isFurther(edge, progress)
  if (!isNewer && actions.length === (edge.actions?.length ?? 0)) return ALREADY
  return { kind: 'patch', edge: { ...edge, actions, ...(isNewer ? position(progress) : {}) } }
}

/** The same journal record may report a download that has moved on. */
function isFurther(edge: TaskEdge, progress: Progress): boolean {
  if (progress.Seq !== edge.seq) return false
  return edge.step === undefined || (progress.Percent ?? 0) > (edge.percent ?? 0)
}

function position(progress: Progress): Pick<TaskEdge, 'seq' | 'step' | 'percent'> {
  return { seq: progress.Seq, step: clean(progress.Step, 16), percent: progress.Percent ?? 0 }
}

/** Only what is over stays in the list. */
function appendAction(actions: readonly EdgeAction[], progress: Progress): EdgeAction[] {
  if (!progress.Final) return actions as EdgeAction[]
  return withAction(actions, {
    action: progress.action,
    succ: progress.succ,
    reason: clean(progress.reason, 512),
    time: clean(progress.finishTime, 40),
  })
}
