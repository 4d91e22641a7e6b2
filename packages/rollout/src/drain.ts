import { type End, endOf } from './conclude.ts'
import type { JobPlan } from './job-plan.ts'
import type { SlimPod } from './slim-pod.ts'

/** How often a pod that may not go yet is asked again. */
const ASK_AGAIN_MS = 5_000
const MAX_NAMES = 5
/** Pods that cannot be read for so long after the deadline are not waited for: the node would stay closed. */
const READ_MS = 60_000

/** What is next for a node that is being emptied. */
export type DrainStep =
  | { readonly kind: 'empty' }
  /** Its pods have to be read first. */
  | { readonly kind: 'unread' }
  | { readonly kind: 'ends'; readonly end: End }
  | {
      readonly kind: 'waits'
      readonly evict: readonly SlimPod[]
      readonly wakeAt: number
      readonly message: string
    }

/**
 * Pods are asked to go until none is left or the time is over, which runs from the taking of the node. A pod that the job does
 * not let go ends it before the first is touched.
 */
export function drainStep(
  { drain }: JobPlan,
  pods: readonly SlimPod[] | undefined,
  { now, takenAt }: { now: number; takenAt: number },
): DrainStep {
  const deadline = takenAt + drain.timeoutSeconds * 1000
  if (!pods) {
    if (now < deadline + READ_MS) return { kind: 'unread' }
    return timedOut(drain.onTimeout, 'the pods of the node could not be read in time')
  }
  if (pods.length === 0) return { kind: 'empty' }
  const refused = pods.filter(
    (pod) =>
      !pod.isGoing &&
      ((drain.emptyDir === 'Refuse' && pod.hasData) || (drain.unmanagedPods === 'Refuse' && !pod.isManaged)),
  )
  if (refused.length > 0)
    return { kind: 'ends', end: endOf('DrainRefused', `pods may not be deleted: ${namesOf(refused)}`) }
  if (now >= deadline) return timedOut(drain.onTimeout, `pods did not go in time: ${namesOf(pods)}`)
  const message = `pods are to go from the node: ${namesOf(pods)}`
  const wakeAt = Math.min(now + ASK_AGAIN_MS, deadline)
  return { kind: 'waits', evict: pods.filter((pod) => !pod.isGoing), wakeAt, message }
}

function timedOut(onTimeout: JobPlan['drain']['onTimeout'], message: string): DrainStep {
  if (onTimeout === 'Proceed') return { kind: 'empty' }
  const end = endOf('DrainTimeout', message)
  return { kind: 'ends', end: onTimeout === 'Skip' ? { ...end, phase: 'Skipped', outcome: 'Skipped' } : end }
}

function namesOf(pods: readonly SlimPod[]): string {
  const names = pods.slice(0, MAX_NAMES).map(({ namespace, name }) => `${namespace}/${name}`)
  const more = pods.length > MAX_NAMES ? ` and ${pods.length - MAX_NAMES} more` : ''
  return names.join(', ') + more
}
