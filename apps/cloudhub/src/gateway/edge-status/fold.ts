import type { NodeUpgradeTask, TaskEdge } from '@upgrade-hub/api'
import { decideEdge } from './decide.ts'
import type { EdgeDecision, EdgeMessage } from './decision.ts'

/** What a batch of messages about one task comes to. */
export interface Folded {
  /** One for each message, in their order. */
  readonly decisions: readonly EdgeDecision[]
  /** The next `status.edge`; undefined when nothing is to be written. */
  readonly edge: TaskEdge | undefined
}

/** Decides the messages one after the other, each on what the one before made of the task: many reports, one write. */
export function foldEdge(task: NodeUpgradeTask, messages: readonly EdgeMessage[]): Folded {
  let current = task
  let edge: TaskEdge | undefined
  const decisions = messages.map((message) => {
    const decision = decideEdge(current, message)
    if (decision.kind === 'patch') {
      edge = decision.edge
      current = { ...task, status: { phase: 'Pending', ...task.status, edge } }
    }
    return decision
  })
  return { decisions, edge }
}
