import type { NodeUpgradeJob, NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import type { NodePatch } from './node-patches.ts'
import type { SlimNode } from './slim-node.ts'
import type { SlimPod } from './slim-pod.ts'

/** Something worth a Kubernetes event, on the job or on a node. */
export interface HubEvent {
  readonly on: 'job' | 'node'
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly note: string
}

/** A JSON merge patch of a status: null removes a key. */
export type Patch<T> = { readonly [K in keyof T]?: NonNullable<T[K]> extends object ? unknown : T[K] | null }
export type TaskPatch = Patch<TaskStatus>

/**
 * The one write that a task asks for next. Each is made under the resourceVersion of the object that the decision saw; when it
 * is refused, look again and decide again.
 */
export type TaskWrite =
  | { readonly target: 'status'; readonly status: TaskPatch }
  | { readonly target: 'node'; readonly patch: NodePatch }
  | { readonly target: 'finalizers'; readonly finalizers: readonly string[] }

/** At most one write: after it, the same question is asked of what was stored. */
export interface TaskDecision {
  readonly write?: TaskWrite
  /** To be told once the write is stored. */
  readonly events?: readonly HubEvent[]
  /** The pods of the node must be known for a decision: ask again with them. */
  readonly needsPods?: boolean
  /** Pods that are to be evicted; one that may not go yet is asked again at `wakeAt`. */
  readonly evict?: readonly SlimPod[]
  /** When to ask again though nothing changed, API time in ms. */
  readonly wakeAt?: number
}

/** All that a decision on one task looks at. */
export interface TaskView {
  /** Undefined when the job is gone: then the task is to end as if it were cancelled. */
  readonly job: NodeUpgradeJob | undefined
  readonly task: NodeUpgradeTask
  readonly node: SlimNode | undefined
  /** The job recorded that this attempt is being released. */
  readonly released: boolean
  /** The job's budget lets the task prepare now. */
  readonly mayPrepare: boolean
  /** The task is a member of the job's plan. */
  readonly planned: boolean
  /** When the result of the current attempt was first seen, API time in ms: the verification is counted from it. */
  readonly resultSeenAt: number | undefined
  /** Pods in the way of a drain; undefined until they were asked for. */
  readonly pods?: readonly SlimPod[]
  /** API time in ms. */
  readonly now: number
}
