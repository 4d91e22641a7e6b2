import type { NodeUpgradeTask, TaskEdge } from '@upgrade-hub/api'
import type { Answer, Outcome, Progress, Result } from '@upgrade-hub/protocol'

/** A result as the gateway has understood it. */
export interface ResultReport extends Result {
  readonly attempt: number
  readonly Outcome: Outcome
  /** The job has ended: what comes now is noted and changes nothing. */
  readonly jobClosed?: boolean
  /** What the node's session said last: the versions of the agent and of edgehub, and when, in API-server time. */
  readonly probe?: {
    readonly version: string
    readonly edgehub: string
    readonly bootID: string
    readonly time: string
  }
}

/** One thing that a node said about one of its tasks. `nodeName` is the certificate's. */
export type EdgeMessage =
  | { readonly kind: 'answer'; readonly nodeName: string; readonly body: Answer; readonly timeZone?: string }
  | { readonly kind: 'progress'; readonly nodeName: string; readonly body: Progress }
  | { readonly kind: 'result'; readonly nodeName: string; readonly body: ResultReport }

/** Why a message is not stored: each is final for this message. */
export type RefusalCode = 'UNKNOWN_TASK' | 'NOT_YOURS' | 'NOT_DISPATCHED' | 'MISMATCH' | 'HISTORY_FULL'

export type EdgeDecision =
  /** `edge` is the whole next value of `status.edge`. */
  | { readonly kind: 'patch'; readonly edge: TaskEdge }
  /** The same or newer truth is stored: there is nothing to write, and the sender may be told so. */
  | { readonly kind: 'already' }
  | { readonly kind: 'refuse'; readonly code: RefusalCode; readonly message: string }

export const ALREADY = { kind: 'already' } as const satisfies EdgeDecision

export function refuse(code: RefusalCode, message: string): EdgeDecision {
  return { kind: 'refuse', code, message }
}

/** True when this attempt was never begun: nothing that is said of it can be true. */
export function isNotDispatched(task: NodeUpgradeTask, attempt: number): boolean {
  return attempt > (task.status?.attempt ?? 0) || task.status?.intent === undefined
}

/** The edge as it is for `attempt`: what belongs to an attempt starts anew with a higher one, the history stays. */
export function edgeForAttempt(edge: TaskEdge | undefined, attempt: number): TaskEdge {
  if (edge && edge.attempt >= attempt) return edge
  return {
    attempt,
    seq: 0,
    ...(edge?.results ? { results: edge.results } : {}),
    ...(edge?.late ? { late: edge.late } : {}),
    ...(edge?.probe ? { probe: edge.probe } : {}),
  }
}
