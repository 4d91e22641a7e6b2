import type { NodeUpgradeTask } from '@upgrade-hub/api'
import type { OpenAttempt, Welcome } from '@upgrade-hub/protocol'

type Verdict = Welcome['open'][number]['verdict']

/**
 * What an edge is told of an attempt that it has open. `abort` where the hub has stopped waiting for it (it has no effect
 * once the agent was stopped), `unknown` where the hub cannot say yet. `continue` permits nothing.
 */
export function verdictOf(open: OpenAttempt, task: NodeUpgradeTask | undefined): Verdict {
  if (!task || task.metadata.uid !== open.taskUID) return 'abort'
  const { phase, attempt = 0, edge } = task.status ?? { phase: 'Pending' }
  if (open.attempt !== attempt) return open.attempt < attempt ? 'abort' : 'unknown'
  if (edge?.results?.some((result) => result.attempt === open.attempt)) return 'abort'
  return phase === 'Pending' || phase === 'InProgress' ? 'continue' : 'abort'
}
