import {
  type EdgeIdentity,
  IDENTITY_KIND,
  JOB_KIND,
  type NodeUpgradeJob,
  type NodeUpgradeTask,
  TASK_KIND,
} from '@upgrade-hub/api'
import { resource } from '@upgrade-hub/kube'

export const JOBS = resource<NodeUpgradeJob>(JOB_KIND)
export const TASKS = resource<NodeUpgradeTask>(TASK_KIND)
export const IDENTITIES = resource<EdgeIdentity>(IDENTITY_KIND)
