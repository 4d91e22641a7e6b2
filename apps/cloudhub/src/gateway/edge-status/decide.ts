import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { decideAnswer } from './answer.ts'
import { type EdgeDecision, type EdgeMessage, refuse } from './decision.ts'
import { decideProgress } from './progress.ts'
import { decideResult } from './result.ts'

/**
 * What a message changes in `status.edge`: the only writer of that subtree. The rules of the CRD (TaskEdge) are held here
 * too, so that a refusal by the API server means that the task has moved on since it was read.
 */
export function decideEdge(task: NodeUpgradeTask, message: EdgeMessage): EdgeDecision {
  const { nodeName, body } = message
  if (task.spec.nodeName !== nodeName) return refuse('NOT_YOURS', 'the task is of another node')
  if (body.TaskUID !== undefined && body.TaskUID !== task.metadata.uid) {
    return refuse('UNKNOWN_TASK', 'the task of this UID does not exist any more')
  }
  switch (message.kind) {
    case 'answer':
      return decideAnswer(task, message.body, message.timeZone)
    case 'progress':
      return decideProgress(task, message.body)
    case 'result':
      return decideResult(task, message.body)
  }
}
