import {
  type EdgeIdentity,
  HUB_GROUP,
  KUBEEDGE_GROUP,
  type NodeUpgradeJob,
  type NodeUpgradeTask,
} from '@upgrade-hub/api'
import { type KubeClient, resource } from '@upgrade-hub/kube'

export const JOBS = resource<NodeUpgradeJob>({
  group: KUBEEDGE_GROUP,
  version: 'v1alpha2',
  plural: 'nodeupgradejobs',
  kind: 'NodeUpgradeJob',
  namespaced: false,
})
export const TASKS = resource<NodeUpgradeTask>({
  group: HUB_GROUP,
  version: 'v1alpha1',
  plural: 'nodeupgradetasks',
  kind: 'NodeUpgradeTask',
  namespaced: false,
})
export const IDENTITIES = resource<EdgeIdentity>({
  group: HUB_GROUP,
  version: 'v1alpha1',
  plural: 'edgeidentities',
  kind: 'EdgeIdentity',
  namespaced: false,
})

/** As much of the client as single calls need; a test gives a fake. */
export type KubeApi = Pick<
  KubeClient,
  'get' | 'list' | 'create' | 'patch' | 'replace' | 'delete' | 'serverNow'
>
