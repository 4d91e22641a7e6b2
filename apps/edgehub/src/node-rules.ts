import type { Answer, EdgeCode, TaskRef, Welcome } from '@upgrade-hub/protocol'
import type { AttemptView } from '@upgrade-hub/upgrader'

/** The names of an intent, which every answer to it repeats. */
export type IntentRef = Pick<TaskRef, 'Task' | 'TaskUID' | 'Attempt' | 'IntentSeq'>

export function refusal(ref: IntentRef, code: EdgeCode, reason: string): Answer {
  const { Task, TaskUID, Attempt, IntentSeq } = ref
  return { Task, TaskUID, Attempt, IntentSeq, Value: 'refused', Code: code, Reason: reason }
}

/** Why a command for a node is not for this one, as far as the session's welcome told which Node this is. */
export function notThisNode(
  ref: IntentRef & { NodeUID: string },
  nodeUID: string | undefined,
): Answer | undefined {
  if (nodeUID === ref.NodeUID) return undefined
  return refusal(ref, 'NodeReplaced', `this node is ${nodeUID || 'not known to the hub'}, not ${ref.NodeUID}`)
}

/**
 * True when a welcome ends an attempt: the hub says `abort`, or the Node is another now. `unknown` ends nothing, and from
 * the stop of the agent on nothing does (protocol.md 1).
 */
export function endedByWelcome(view: AttemptView, welcome: Welcome): boolean {
  if (view.phase === 'ended' || view.pastStop) return false
  if (welcome.nodeUID !== '' && welcome.nodeUID !== view.nodeUID) return true
  const verdict = welcome.open.find(({ task, attempt }) => task === view.task && attempt === view.attempt)
  return verdict?.verdict === 'abort'
}
