import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { historyId } from '@upgrade-hub/core'
import { OPERATION, type Operation, type Prepare, type Proceed, type TaskRef } from '@upgrade-hub/protocol'

/** How far an intent has come. */
export type IntentState =
  /** Nothing is known of it at the edge: send it, and again. */
  | 'open'
  /** The edge has it on disk and works; once per session is enough. */
  | 'accepted'
  | 'answered'

export interface IntentFrame {
  readonly operation: Operation
  readonly content: Prepare | Proceed | TaskRef
}

/** A permission that is about to end is sent as none: what is left of it would be used up on the way. */
const MIN_VALID_SECONDS = 5
const MAX_VALID_SECONDS = 600
const CHECKS: ReadonlySet<string> = new Set(['cpu', 'mem', 'disk'])

/** What the stored task says of its intent; `undefined` when it has none. */
export function intentState({ status }: NodeUpgradeTask): IntentState | undefined {
  const { intent, edge } = status ?? {}
  if (intent?.verb === undefined) return undefined
  const answer = edge?.answer
  const wanted = intent.seq ?? 0
  const answered = answer?.seq ?? -1
  if (answered > wanted) return 'answered'
  const hasResult = edge?.results?.some((result) => result.attempt === status?.attempt) ?? false
  if (intent.verb !== 'cancel' && hasResult) return 'answered'
  if (answered < wanted) return 'open'
  return answer?.value === 'accepted' ? 'accepted' : 'answered'
}

/**
 * The frame of the task's intent at `now` (API-server time, ms); undefined when there is none. A permission with less than
 * 5 s left permits nothing any more, but it asks: an edge that never had it refuses it, so the node is not held for long.
 */
export function intentFrame(task: NodeUpgradeTask, now: number): IntentFrame | undefined {
  switch (task.status?.intent?.verb) {
    case 'prepare':
      return { operation: OPERATION.prepare, content: prepareOf(task) }
    case 'proceed':
      return proceedFrame(task, now)
    case 'cancel':
      return { operation: OPERATION.cancel, content: refOf(task) }
    case undefined:
      return undefined
  }
}

function refOf({ metadata, status }: NodeUpgradeTask): TaskRef {
  return {
    Task: metadata.name,
    TaskUID: metadata.uid ?? '',
    Attempt: status?.attempt ?? 0,
    IntentSeq: status?.intent?.seq ?? 0,
  }
}

function prepareOf(task: NodeUpgradeTask): Prepare {
  const { metadata, spec, status } = task
  return {
    ...refOf(task),
    UpgradeID: spec.jobName,
    HistoryID: historyId(metadata.name, status?.attempt ?? 0),
    Version: spec.version,
    UpgradeTool: spec.tool,
    Image: spec.image,
    ImageDigest: status?.intent?.imageDigest ?? '',
    RequireConfirmation: spec.requireConfirmation ?? false,
    NodeUID: spec.nodeUID ?? '',
    Component: spec.component,
    Purpose: spec.purpose,
    CheckItems: (spec.checkItems ?? []).filter((item): item is 'cpu' | 'mem' | 'disk' => CHECKS.has(item)),
    Health: { minReadySeconds: spec.minReadySeconds, ...(spec.probes ? { probes: spec.probes } : {}) },
    Timeouts: {
      checkSeconds: 0,
      downloadSeconds: 0,
      confirmSeconds: 0,
      upgradeSeconds: 0,
      rollbackSeconds: 0,
      verifySeconds: 0,
      ...spec.timeouts,
    },
    VersionPolicy: spec.versionPolicy,
    Digests: spec.digests ?? {},
    ...(spec.registryAPI
      ? { RegistryAPI: { Host: spec.registryAPI.host, Token: spec.registryAPI.token } }
      : {}),
  }
}

function proceedFrame(task: NodeUpgradeTask, now: number): IntentFrame | undefined {
  const { spec, status } = task
  const leftMs = Date.parse(status?.intent?.notAfter ?? '') - now
  if (Number.isNaN(leftMs)) return undefined
  const seconds = Math.min(Math.floor(leftMs / 1000), MAX_VALID_SECONDS)
  const content = {
    ...refOf(task),
    NodeUID: spec.nodeUID ?? '',
    Epoch: status?.intent?.epoch ?? 0,
    ValidForSeconds: seconds < MIN_VALID_SECONDS ? 0 : seconds,
  }
  return { operation: OPERATION.proceed, content }
}
