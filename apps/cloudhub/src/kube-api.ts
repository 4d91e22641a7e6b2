import {
  type EdgeIdentity,
  IDENTITY_KIND,
  JOB_KIND,
  type NodeUpgradeJob,
  type NodeUpgradeTask,
  TASK_KIND,
} from '@upgrade-hub/api'
import { type KubeClient, resource } from '@upgrade-hub/kube'

export const JOBS = resource<NodeUpgradeJob>(JOB_KIND)
export const TASKS = resource<NodeUpgradeTask>(TASK_KIND)
export const IDENTITIES = resource<EdgeIdentity>(IDENTITY_KIND)

/** As much of the client as single calls need; a test gives a fake. */
export type KubeApi = Pick<
  KubeClient,
  'get' | 'list' | 'create' | 'patch' | 'replace' | 'delete' | 'serverNow'
>
