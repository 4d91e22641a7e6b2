import type { EdgeResult, NodeUpgradeTask, TaskPhase } from '@upgrade-hub/api'
import { isReason, REASONS, type Reason } from './reasons.ts'
import { agentVersion, type SlimNode } from './slim-node.ts'
import { statusOf } from './task-state.ts'

/** How an attempt ended. */
export interface End {
  readonly phase: TaskPhase
  readonly reason: Reason
  readonly outcome: string
  readonly message: string
  readonly from?: string
  readonly to?: string
}

/** The end that the table gives a reason, with a better sentence or another phase where the caller knows one. */
export function endOf(reason: Reason, message?: string, phase?: TaskPhase): End {
  const rule = REASONS[reason]
  return { phase: phase ?? rule.phase, reason, outcome: rule.outcome, message: message || rule.sentence }
}

/** What an edge's refusal means: an end, or back in the queue with its reason. A word that we do not know is an end. */
export function refusalOf(code: string | undefined, message?: string): End {
  return endOf(isReason(code) && canRefuse(code) ? code : 'BadRequest', message)
}

/**
 * What a stored result means; undefined while a reported success is not verified. Success is believed only when the node is
 * Ready and shows the version.
 */
export function resultEnd(
  task: NodeUpgradeTask,
  result: EdgeResult,
  node: SlimNode | undefined,
): End | undefined {
  const versions = { ...(result.from ? { from: result.from } : {}), ...(result.to ? { to: result.to } : {}) }
  if (result.outcome !== 'Succeeded') return { ...failureOf(result), ...versions }
  if (!isVerified(task, node)) return undefined
  return { ...endOf('Upgraded', result.reason), to: task.spec.version, ...versions }
}

/**
 * The node is Ready and at the version. What a kubelet reports counts; where none does (the hub keeps the Node, or the
 * component is not the agent), what edgehub saw when it asked the program.
 */
export function isVerified(task: NodeUpgradeTask, node: SlimNode | undefined): boolean {
  if (!node?.ready || node.uid !== task.spec.nodeUID) return false
  const reported = sameVersion(agentVersion(node.version), task.spec.version)
  if (task.spec.component === 'edgecore' && !node.registered) return reported
  const probed = sameVersion(statusOf(task).edge?.probe?.version ?? '', task.spec.version)
  return probed || (task.spec.component === 'edgecore' && reported)
}

/** The outcome decides, not the code: a code says why. */
function failureOf({ outcome, code, reason }: EdgeResult): End {
  const known = isReason(code) ? code : undefined
  switch (outcome) {
    case 'RolledBack':
      return { ...endOf(known && REASONS[known].outcome === 'RolledBack' ? known : 'RolledBack', reason) }
    case 'RollbackFailed':
      return endOf('RollbackFailed', reason)
    case 'RefusedBeforeChange':
      return refusalOf(code, reason)
    case 'FailedBeforeChange':
      return endOf(known && canFailBeforeChange(known) ? known : 'FailedBeforeChange', reason)
    case 'Cancelled':
      return endOf('Cancelled', reason)
    default:
      return endOf('StateUnreadable', reason)
  }
}

function canRefuse(reason: Reason): boolean {
  const { outcome, retryable } = REASONS[reason]
  return (
    retryable ||
    outcome === 'RefusedBeforeChange' ||
    outcome === 'FailedBeforeChange' ||
    EARLY.includes(reason)
  )
}

function canFailBeforeChange(reason: Reason): boolean {
  const { outcome, retryable } = REASONS[reason]
  return retryable || outcome === 'FailedBeforeChange' || outcome === 'RefusedBeforeChange'
}

/** Ends without a failure that an edge may answer with. */
const EARLY: readonly Reason[] = ['AlreadyAtVersion', 'Cancelled']

/** True for one version in whatever spelling; an unknown one is none. */
export function sameVersion(left: string, right: string): boolean {
  return left !== '' && left.replace(/^v/, '') === right.replace(/^v/, '')
}
