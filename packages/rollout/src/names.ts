import type * as api from '@upgrade-hub/api'

/**
 * The keys of `@upgrade-hub/api` that decisions write. They are repeated because this package takes only types from there
 * (it must run anywhere); the literal types make a difference a type error.
 */
export const EDGE_NODE_LABEL: typeof api.EDGE_NODE_LABEL = 'node-role.kubernetes.io/edge'
export const UPGRADING_LABEL: typeof api.UPGRADING_LABEL = 'nodeupgradejob.operations.kubeedge.io/status'
export const HISTORY_ANNOTATION: typeof api.HISTORY_ANNOTATION =
  'nodeupgradejob.operations.kubeedge.io/history'
export const HISTORY_KEPT: typeof api.HISTORY_KEPT = 3
export const HOLD_ANNOTATION: typeof api.HOLD_ANNOTATION = 'upgradehub.io/hold'
export const EPOCH_ANNOTATION: typeof api.EPOCH_ANNOTATION = 'upgradehub.io/epoch'
export const KEEP_CORDONED_ANNOTATION: typeof api.KEEP_CORDONED_ANNOTATION = 'upgradehub.io/keep-cordoned'
export const REGISTERED_ANNOTATION: typeof api.REGISTERED_ANNOTATION = 'upgradehub.io/registered'
export const RELEASE_FINALIZER: typeof api.RELEASE_FINALIZER = 'upgradehub.io/release'
export const KUBEEDGE_FINALIZER: typeof api.KUBEEDGE_FINALIZER = 'kubeedge.io/nodeupgradejob-controller'
export const JOB_UID_LABEL: typeof api.JOB_UID_LABEL = 'upgradehub.io/job-uid'
export const JOB_NAME_LABEL: typeof api.JOB_NAME_LABEL = 'upgradehub.io/job-name'
export const NODE_LOCAL: typeof api.NODE_LOCAL = 'NodeLocal'
export const REST_WAVE: typeof api.REST_WAVE = 'rest'
export const NODE_FIELD_MANAGER: typeof api.NODE_FIELD_MANAGER = 'upgradehub'
