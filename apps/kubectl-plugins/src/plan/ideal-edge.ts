import type { NodeUpgradeTask, TaskEdge } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import { agentVersion, type SlimNode, statusOf } from '@upgrade-hub/rollout'

/** How long the two phases of a node usually take. */
export interface Durations {
  readonly prepareMs: number
  /** From being taken to being proven. */
  readonly proceedMs: number
}

/** It says at once that it has begun, so that nobody takes it for silent. */
export function atWork(task: NodeUpgradeTask): TaskEdge {
  const { intent, attempt = 1, edge } = statusOf(task)
  return { ...edge, attempt, seq: intent?.seq ?? 0, step: intent?.verb === 'proceed' ? 'E5' : 'E0' }
}

/** What a node that does well says to the intent that it has. */
export function edgeWords(task: NodeUpgradeTask, node: SlimNode | undefined, now: number): TaskEdge {
  const { intent, attempt = 1 } = statusOf(task)
  const seq = intent?.seq ?? 0
  const from = agentVersion(node?.version ?? '')
  const fromVersion = from ? { fromVersion: from } : {}
  if (intent?.verb !== 'proceed') return { attempt, seq, answer: { seq, value: 'prepared', ...fromVersion } }
  const { version } = task.spec
  const result = {
    attempt,
    outcome: 'Succeeded',
    to: version,
    finishedAt: rfc3339(now),
    ...(from ? { from } : {}),
  }
  return { attempt, seq, results: [result], probe: { version, time: rfc3339(now) } }
}
