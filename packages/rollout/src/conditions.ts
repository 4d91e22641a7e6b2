import type { Condition, NodeUpgradeJob } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import { conditionOf } from './halt.ts'

export interface Say {
  readonly type: string
  readonly status: boolean
  readonly reason: string
  readonly message: string
}

/** The order in which conditions are listed: the terminal ones last. */
const ORDER = ['Accepted', 'Progressing', 'Paused', 'Complete', 'Failed', 'Finished']

/**
 * A job's conditions with some said anew: the time of transition changes with the status only, and every one carries the
 * generation that it was said of.
 */
export function withConditions(job: NodeUpgradeJob, says: readonly Say[], now: number): Condition[] {
  const said = new Map((job.status?.conditions ?? []).map((condition) => [condition.type, condition]))
  for (const say of says) said.set(say.type, conditionFrom(job, say, now))
  const observedGeneration = job.metadata.generation ?? 0
  return [...said.values()].map((condition) => ({ ...condition, observedGeneration })).sort(byOrder)
}

function conditionFrom(job: NodeUpgradeJob, { type, status, reason, message }: Say, now: number): Condition {
  const before = conditionOf(job, type)
  const word = status ? 'True' : 'False'
  const lastTransitionTime = before?.status === word ? before.lastTransitionTime : rfc3339(now)
  return { type, status: word, reason, message: message.slice(0, 32_768), lastTransitionTime }
}

function byOrder(left: Condition, right: Condition): number {
  return ORDER.indexOf(left.type) - ORDER.indexOf(right.type)
}
