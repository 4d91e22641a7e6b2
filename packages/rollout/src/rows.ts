import type {
  ActionFlowEntry,
  EdgeAction,
  HistoryRow,
  NodeStatusRow,
  NodeUpgradeTask,
} from '@upgrade-hub/api'
import { historyId } from '@upgrade-hub/core'
import { statusOf } from './task-state.ts'

/** Not yet over: of KubeEdge's three words for a status the one that it never writes. */
const WAITING: ActionFlowEntry = { action: 'WaitingConfirmation', status: 'Unknown' }

/**
 * The row of one node in `status.nodeStatus`: KubeEdge's fields, and our code as `outcome`. `back` is the task that took its
 * upgrade back.
 */
export function nodeRow(task: NodeUpgradeTask, back?: NodeUpgradeTask): NodeStatusRow {
  if (back && statusOf(back).phase === 'Successful') return takenBackRow(task, back)
  const status = statusOf(task)
  const { phase, message, reason, edge } = status
  const from = status.fromVersion ?? edge?.answer?.fromVersion
  const current = phase === 'Successful' ? (status.toVersion ?? task.spec.version) : from
  const over = (edge?.attempt === status.attempt ? edge?.actions : undefined) ?? []
  const flow = reason === 'WaitingConfirmation' ? [...over.map(flowEntry), WAITING] : over.map(flowEntry)
  return {
    nodeName: task.spec.nodeName,
    phase,
    ...(message ? { reason: message } : {}),
    ...(reason ? { outcome: reason } : {}),
    ...(current ? { currentVersion: current } : {}),
    ...(phase === 'Successful' && from ? { historicVersion: from } : {}),
    ...(flow.length > 0 ? { actionFlow: flow } : {}),
  }
}

function takenBackRow(task: NodeUpgradeTask, back: NodeUpgradeTask): NodeStatusRow {
  const { version } = back.spec
  return {
    ...nodeRow(task),
    phase: 'Failure',
    outcome: 'RolledBack',
    reason: `the job was taken back: the node runs ${version} again`,
    currentVersion: version,
    historicVersion: task.spec.version,
  }
}

/** The row of one node in the words of KubeEdge's proposal (`status.status`). */
export function historyRow(task: NodeUpgradeTask, back?: NodeUpgradeTask): HistoryRow {
  const status = statusOf(task)
  const ended = status.completionTime !== undefined
  const isTakenBack = back !== undefined && statusOf(back).phase === 'Successful'
  const state = ended ? 'completed' : status.phase === 'InProgress' ? 'upgrading' : ''
  if (!status.attempt) return { nodeName: task.spec.nodeName, state }
  return {
    nodeName: task.spec.nodeName,
    state,
    history: {
      historyID: historyId(task.metadata.name, status.attempt),
      ...(status.fromVersion ? { fromVersion: status.fromVersion } : {}),
      toVersion: status.toVersion ?? task.spec.version,
      result: isTakenBack ? 'upgrade_failed_rollback_success' : resultWord(status.phase, status.outcome),
      ...(status.message ? { reason: status.message } : {}),
      ...(status.completionTime ? { upgradeTime: status.completionTime } : {}),
    },
  }
}

/** One of KubeEdge's three results, or empty where none of them is true. */
function resultWord(phase: string, outcome: string | undefined): string {
  if (phase === 'Successful') return 'upgrade_success'
  if (phase === 'Failure' && outcome === 'RolledBack') return 'upgrade_failed_rollback_success'
  if (phase === 'Failure' && outcome === 'RollbackFailed') return 'upgrade_failed_rollback_failed'
  return ''
}

function flowEntry({ action, succ, reason, time }: EdgeAction): ActionFlowEntry {
  return {
    ...(action ? { action } : {}),
    ...(succ === undefined ? {} : { status: succ ? 'True' : 'False' }),
    ...(reason ? { reason } : {}),
    ...(time ? { time } : {}),
  }
}
