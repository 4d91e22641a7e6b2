import { HUB_GROUP, KUBEEDGE_GROUP } from './names.ts'

/** Where the API server serves our kinds, in the version that is stored: what a client needs to address them. */
export const JOB_KIND = {
  group: KUBEEDGE_GROUP,
  version: 'v1alpha2',
  plural: 'nodeupgradejobs',
  kind: 'NodeUpgradeJob',
  namespaced: false,
} as const

export const TASK_KIND = {
  group: HUB_GROUP,
  version: 'v1alpha1',
  plural: 'nodeupgradetasks',
  kind: 'NodeUpgradeTask',
  namespaced: false,
} as const

export const IDENTITY_KIND = {
  group: HUB_GROUP,
  version: 'v1alpha1',
  plural: 'edgeidentities',
  kind: 'EdgeIdentity',
  namespaced: false,
} as const
