import type { NodeUpgradeTask, TaskEdge } from '@upgrade-hub/api'
import type { Answer } from '@upgrade-hub/protocol'
import { ALREADY, type EdgeDecision, edgeForAttempt, isNotDispatched, refuse } from './decision.ts'
import { clean } from './text.ts'

type StoredAnswer = NonNullable<TaskEdge['answer']>

/**
 * An answer is stored for the intent that stands; the first last word stands, and `accepted` is never one. `timeZone` is the
 * node's, by which a window may be meant.
 */
export function decideAnswer(task: NodeUpgradeTask, answer: Answer, timeZone?: string): EdgeDecision {
  const intent = task.status?.intent
  if (isNotDispatched(task, answer.Attempt) || answer.IntentSeq > (intent?.seq ?? 0)) {
    return refuse('NOT_DISPATCHED', 'this intent was never given')
  }
  if (answer.Attempt < (task.status?.attempt ?? 0) || answer.IntentSeq < (intent?.seq ?? 0)) return ALREADY
  // How a `proceed` ended is told by its result, which is asked for until it is stored: one write, not two.
  if (intent?.verb === 'proceed' && answer.Value === 'done') return ALREADY
  const edge = edgeForAttempt(task.status?.edge, answer.Attempt)
  if (edge.attempt > answer.Attempt || isAnswered(edge.answer, answer)) return ALREADY
  const zone = timeZone ? { timeZone: clean(timeZone, 64) } : {}
  return { kind: 'patch', edge: { ...edge, answer: { ...storedAnswer(edge.answer, answer), ...zone } } }
}

function isAnswered(stored: StoredAnswer | undefined, answer: Answer): boolean {
  const seq = stored?.seq ?? -1
  if (seq !== answer.IntentSeq) return seq > answer.IntentSeq
  return stored?.value !== 'accepted' || answer.Value === 'accepted'
}

/** What an earlier answer of the attempt told about the node stays when a later one does not repeat it. */
function storedAnswer(earlier: StoredAnswer | undefined, answer: Answer): StoredAnswer {
  return {
    ...earlier,
    seq: answer.IntentSeq,
    value: answer.Value,
    code: clean(answer.Code, 64),
    reason: clean(answer.Reason, 1024),
    ...(answer.IndexDigest === undefined ? {} : { indexDigest: answer.IndexDigest }),
    ...(answer.FromVersion === undefined ? {} : { fromVersion: clean(answer.FromVersion, 256) }),
    ...(answer.Platform === undefined ? {} : { platform: answer.Platform }),
  }
}
