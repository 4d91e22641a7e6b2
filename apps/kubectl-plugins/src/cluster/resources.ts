import {
  type EdgeIdentity,
  IDENTITY_KIND,
  JOB_KIND,
  type NodeUpgradeJob,
  type NodeUpgradeJobSpec,
  type NodeUpgradeTask,
  TASK_KIND,
} from '@upgrade-hub/api'
import { resource } from '@upgrade-hub/kube'

export const JOBS = resource<NodeUpgradeJob>(JOB_KIND)
export const TASKS = resource<NodeUpgradeTask>(TASK_KIND)
export const IDENTITIES = resource<EdgeIdentity>(IDENTITY_KIND)

/** A job as it is sent, in the version that is stored. */
export function newJob(name: string, spec: NodeUpgradeJobSpec): NodeUpgradeJob {
  const { group, version, kind } = JOB_KIND
  return { apiVersion: `${group}/${version}`, kind, metadata: { name }, spec }
}
