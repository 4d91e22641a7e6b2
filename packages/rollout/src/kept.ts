import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { jobPlan, specProblem } from './job-plan.ts'
import { type NodePatch, restorePatch } from './node-patches.ts'
import type { SlimNode } from './slim-node.ts'
import { statusOf } from './task-state.ts'

/** True for an end after which the job wants the node to stay cordoned. */
export function staysCordoned(
  job: NodeUpgradeJob | undefined,
  { phase, reason = '' }: { readonly phase: string; readonly reason?: string | undefined },
): boolean {
  if (!job || specProblem(job.spec)) return false
  const { keepCordonedOn } = jobPlan(job)
  return keepCordonedOn.includes(reason) || keepCordonedOn.includes(phase)
}

/** Takes our mark off the node of an ended task: what is stored of its end says whether the node stays cordoned. */
export function endedPatch(
  node: SlimNode,
  task: NodeUpgradeTask,
  job: NodeUpgradeJob | undefined,
): NodePatch {
  const status = statusOf(task)
  return restorePatch(node, {
    keepCordoned: staysCordoned(job, status),
    isGood: status.phase === 'Successful',
  })
}
