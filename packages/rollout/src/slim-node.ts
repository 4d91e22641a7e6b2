import type { Hold, ManagedFields, Node } from '@upgrade-hub/api'
import {
  EPOCH_ANNOTATION,
  HISTORY_ANNOTATION,
  HOLD_ANNOTATION,
  KEEP_CORDONED_ANNOTATION,
  NODE_FIELD_MANAGER,
  REGISTERED_ANNOTATION,
} from './names.ts'

/** As much of a Node as decisions need; what the caches keep instead of the object. */
export interface SlimNode {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly labels: Readonly<Record<string, string>>
  readonly unschedulable: boolean
  /** The last who changed `spec.unschedulable` was the hub. */
  readonly ownsUnschedulable: boolean
  readonly ready: boolean
  /** `status.nodeInfo.kubeletVersion` as it stands. */
  readonly version: string
  readonly arch: string
  readonly os: string
  /** The hub itself keeps this Node for an edge without a kubelet. */
  readonly registered: boolean
  readonly hold?: Hold
  /** How often the node was ever taken. */
  readonly epoch: number
  readonly keepCordoned: boolean
  readonly history: string
  readonly deleting: boolean
}

/** The projection of a Node; never throws, whatever the annotations say. */
export function slimNode(node: Node): SlimNode {
  const { metadata, spec, status } = node
  const annotations = metadata.annotations ?? {}
  const hold = parseHold(annotations[HOLD_ANNOTATION])
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    labels: metadata.labels ?? {},
    unschedulable: spec?.unschedulable ?? false,
    ownsUnschedulable: metadata.managedFields?.some(ownsUnschedulable) ?? false,
    ready: status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false,
    version: status?.nodeInfo?.kubeletVersion ?? '',
    arch: status?.nodeInfo?.architecture ?? '',
    os: status?.nodeInfo?.operatingSystem ?? '',
    registered: annotations[REGISTERED_ANNOTATION] === 'true',
    ...(hold ? { hold } : {}),
    epoch: parseEpoch(annotations[EPOCH_ANNOTATION]),
    keepCordoned: annotations[KEEP_CORDONED_ANNOTATION] !== undefined,
    history: annotations[HISTORY_ANNOTATION] ?? '',
    deleting: metadata.deletionTimestamp !== undefined,
  }
}

/**
 * The version of the agent in a kubelet version: what follows `-kubeedge-` (`v1.28.6-kubeedge-v1.12.0`), else the whole.
 * @see https://github.com/kubeedge/kubeedge/blob/v1.15.0/cloud/pkg/nodeupgradejobcontroller/controller/util.go
 */
export function agentVersion(kubeletVersion: string): string {
  const [, agent] = kubeletVersion.split('-kubeedge-')
  return agent ?? kubeletVersion
}

function ownsUnschedulable(entry: ManagedFields): boolean {
  if (entry.manager !== NODE_FIELD_MANAGER || entry.subresource) return false
  const fields = entry.fieldsV1 as { 'f:spec'?: { 'f:unschedulable'?: unknown } } | undefined
  return fields?.['f:spec']?.['f:unschedulable'] !== undefined
}

function parseEpoch(text: string | undefined): number {
  const epoch = Number(text ?? 0)
  return Number.isSafeInteger(epoch) && epoch > 0 ? epoch : 0
}

/** A mark that cannot be read is still a mark: it belongs to no live task, so the node is let go of. */
function parseHold(text: string | undefined): Hold | undefined {
  if (text === undefined) return undefined
  const said = parseObject(text)
  return {
    task: wordOf(said['task']),
    taskUID: wordOf(said['taskUID']),
    epoch: Number(said['epoch']) || 0,
    previousUnschedulable: said['previousUnschedulable'] === true,
    takenAt: wordOf(said['takenAt']),
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
