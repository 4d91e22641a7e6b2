/** Groups, kinds, keys and names that Kubernetes and operators see. One place, because none may ever change. */
export const KUBEEDGE_GROUP = 'operations.kubeedge.io'
export const HUB_GROUP = 'upgradehub.io'
/** Where the hub keeps its Secrets, Lease and webhook Service. */
export const HUB_NAMESPACE = 'upgrade-hub'

export const EDGE_NODE_LABEL = 'node-role.kubernetes.io/edge'
/** KubeEdge's label on a node while it is being upgraded; the value is empty. */
export const UPGRADING_LABEL = 'nodeupgradejob.operations.kubeedge.io/status'
/** KubeEdge's annotation with the last upgrades: `v1.10.0->v1.11.0;v1.11.0->v1.12.0`, oldest first. */
export const HISTORY_ANNOTATION = 'nodeupgradejob.operations.kubeedge.io/history'
export const HISTORY_KEPT = 3
/** Our lock and memory on a node: a JSON `Hold`. */
export const HOLD_ANNOTATION = 'upgradehub.io/hold'
/** Counts the takes of a node for ever. */
export const EPOCH_ANNOTATION = 'upgradehub.io/epoch'
/** Set by a person: the node stays cordoned when we let go of it. */
export const KEEP_CORDONED_ANNOTATION = 'upgradehub.io/keep-cordoned'
/** "true" on a Node that the hub created for an edgehub with `registerNode`: no kubelet speaks for it. */
export const REGISTERED_ANNOTATION = 'upgradehub.io/registered'

export const RELEASE_FINALIZER = 'upgradehub.io/release'
export const KUBEEDGE_FINALIZER = 'kubeedge.io/nodeupgradejob-controller'
export const JOB_UID_LABEL = 'upgradehub.io/job-uid'
export const JOB_NAME_LABEL = 'upgradehub.io/job-name'
/** The field manager of cordon and uncordon, so that managedFields tell whose `unschedulable` it is. */
export const NODE_FIELD_MANAGER = 'upgradehub'

/** What `upgradehub.io/hold` says, as JSON. `takenAt` is API-server time. */
export interface Hold {
  readonly task: string
  readonly taskUID: string
  readonly epoch: number
  readonly previousUnschedulable: boolean
  readonly takenAt: string
}
