import type { Hold, NodeUpgradeTask } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import {
  EPOCH_ANNOTATION,
  HISTORY_ANNOTATION,
  HISTORY_KEPT,
  HOLD_ANNOTATION,
  UPGRADING_LABEL,
} from './names.ts'
import type { SlimNode } from './slim-node.ts'

/** A JSON merge patch of a Node that applies only to the version that was looked at. */
export interface NodePatch {
  readonly metadata: {
    readonly uid: string
    readonly resourceVersion: string
    readonly annotations: Readonly<Record<string, string | null>>
    readonly labels: Readonly<Record<string, string | null>>
  }
  readonly spec?: { readonly unschedulable: true | null }
}

/**
 * Takes a node: cordon, mark of the owner, previous value and take counter in one patch, so that no crash leaves a cordon
 * whose owner is unknown.
 */
export function takePatch(
  node: SlimNode,
  task: NodeUpgradeTask,
  { cordon, now }: { cordon: boolean; now: number },
): NodePatch {
  const epoch = node.epoch + 1
  const hold: Hold = {
    task: task.metadata.name,
    taskUID: task.metadata.uid ?? '',
    epoch,
    previousUnschedulable: node.unschedulable,
    takenAt: rfc3339(now),
  }
  return {
    metadata: {
      uid: node.uid,
      resourceVersion: node.resourceVersion,
      annotations: { [HOLD_ANNOTATION]: JSON.stringify(hold), [EPOCH_ANNOTATION]: String(epoch) },
      labels: { [UPGRADING_LABEL]: '' },
    },
    ...(cordon ? { spec: { unschedulable: true } } : {}),
  }
}

/**
 * Lets go of a node: the mark goes, and the cordon if it was ours and nobody touched it since. A person wins: by having
 * written `unschedulable` (managedFields say so), or by the annotation `upgradehub.io/keep-cordoned`. `isGood` says that the
 * node runs what it should.
 */
export function restorePatch(
  node: SlimNode,
  {
    keepCordoned = false,
    isGood = false,
    upgrade,
  }: { keepCordoned?: boolean; isGood?: boolean; upgrade?: { from: string; to: string } } = {},
): NodePatch {
  return {
    metadata: {
      uid: node.uid,
      resourceVersion: node.resourceVersion,
      annotations: {
        [HOLD_ANNOTATION]: null,
        ...(upgrade ? { [HISTORY_ANNOTATION]: withHistory(node.history, upgrade) } : {}),
      },
      labels: { [UPGRADING_LABEL]: null },
    },
    ...(opensNode(node, isGood) && !keepCordoned ? { spec: { unschedulable: null } } : {}),
  }
}

/**
 * KubeEdge's history, oldest first, the last three: `v1.10.0->v1.11.0;v1.11.0->v1.12.0`.
 * @see https://github.com/kubeedge/kubeedge/blob/v1.15.0/cloud/pkg/nodeupgradejobcontroller/controller/util.go
 */
function withHistory(history: string, { from, to }: { from: string; to: string }): string {
  const past = history.split(';').filter((entry) => entry !== '')
  return [...past, `${from}->${to}`].slice(-HISTORY_KEPT).join(';')
}

/** A cordon that we own and that was there before we came is one that an earlier end of ours kept: a good end lifts it. */
function opensNode(node: SlimNode, isGood: boolean): boolean {
  const cordonIsOurs = node.ownsUnschedulable && (isGood || node.hold?.previousUnschedulable === false)
  return cordonIsOurs && node.unschedulable && !node.keepCordoned
}
