import type { EdgeAction, EdgeResult, NodeUpgradeTask, TaskEdge } from '@upgrade-hub/api'
import { withAction } from './actions.ts'
import {
  ALREADY,
  type EdgeDecision,
  edgeForAttempt,
  isNotDispatched,
  type ResultReport,
  refuse,
} from './decision.ts'
import { clean, cleanTail } from './text.ts'

const MAX_RESULTS = 16
const MAX_LATE = 8
const MAX_LOG_TAIL = 8192
/** Ends at which the agent was stopped: a task that ended otherwise did not know of them. */
const TOUCHED: ReadonlySet<string> = new Set(['Succeeded', 'RolledBack', 'RollbackFailed', 'StateUnreadable'])

/**
 * The first stored result of an attempt stands for ever; a different one, or one that comes when its task has ended
 * otherwise, is appended to `late`. Nothing is ever dropped to make room.
 */
export function decideResult(task: NodeUpgradeTask, report: ResultReport): EdgeDecision {
  if (report.UpgradeID !== task.spec.jobName)
    return refuse('MISMATCH', 'UpgradeID is not the job of this task')
  if (isNotDispatched(task, report.attempt)) return refuse('NOT_DISPATCHED', 'this attempt was never begun')
  const edge = edgeForAttempt(task.status?.edge, report.attempt)
  const entry = entryOf(report)
  const results = edge.results ?? []
  const late = edge.late ?? []
  if ([...results, ...late].some((stored) => saysTheSame(stored, entry))) return ALREADY
  const isFirst = !results.some((stored) => stored.attempt === entry.attempt)
  if (isFirst && results.length < MAX_RESULTS && !isLate(task, report)) {
    return { kind: 'patch', edge: { ...edge, results: [...results, entry], ...ending(task, edge, report) } }
  }
  if (late.length < MAX_LATE) return { kind: 'patch', edge: { ...edge, late: [...late, entry] } }
  return isFirst ? refuse('HISTORY_FULL', 'the task has no room for another result') : ALREADY
}

/** Two reports of one end: a second post of the same record, or of a recovery that came to the same conclusion. */
function saysTheSame(a: EdgeResult, b: EdgeResult): boolean {
  return (
    a.attempt === b.attempt &&
    a.outcome === b.outcome &&
    (a.code ?? '') === (b.code ?? '') &&
    (a.runningVersion ?? '') === (b.runningVersion ?? '')
  )
}

function isLate(task: NodeUpgradeTask, report: ResultReport): boolean {
  switch (task.status?.phase) {
    case 'Successful':
      return report.Outcome !== 'Succeeded'
    case 'Failure':
    case 'Skipped':
    case 'Cancelled':
      return report.attempt === task.status.attempt && TOUCHED.has(report.Outcome)
    case 'Unknown':
      return report.jobClosed ?? false
    case 'Pending':
    case 'InProgress':
    case undefined:
      return false
  }
}

function entryOf(report: ResultReport): EdgeResult {
  return {
    attempt: report.attempt,
    outcome: report.Outcome,
    code: clean(report.Code, 64),
    from: clean(report.FromVersion, 256),
    to: clean(report.ToVersion, 256),
    runningVersion: clean(report.RunningVersion, 256),
    finishedAt: clean(report.FinishedAt, 40),
    reason: clean(report.Reason, 1024),
  }
}

/** What the end of the attempt that the edge speaks of says besides its entry. */
function ending(
  { spec }: NodeUpgradeTask,
  edge: TaskEdge,
  report: ResultReport,
): Pick<TaskEdge, 'actions' | 'probe' | 'logTail'> {
  if (edge.attempt !== report.attempt) return {}
  return {
    actions: closingActions(report).reduce(withAction, edge.actions ?? []),
    ...(report.probe ? { probe: seen(spec.component, report.probe) } : {}),
    ...(report.Outcome === 'Succeeded' || report.LogTail === undefined
      ? {}
      : { logTail: cleanTail(report.LogTail, MAX_LOG_TAIL) }),
  }
}

function seen(component: string, { edgehub, ...probe }: NonNullable<ResultReport['probe']>) {
  return component === 'edgehub' ? { ...probe, version: edgehub } : probe
}

/**
 * The actions that an outcome says are over. The updater posts its result by itself, so edgehub's last progress may come
 * after it, and nobody listens any more.
 */
function closingActions(report: ResultReport): readonly EdgeAction[] {
  const over = (action: string, succ: boolean, reason = ''): EdgeAction => {
    return { action, succ, reason: clean(reason, 512), time: clean(report.FinishedAt, 40) }
  }
  switch (report.Outcome) {
    case 'Succeeded':
      return report.Code === 'AlreadyAtVersion' ? [] : [over('Upgrade', true)]
    case 'RolledBack':
      return [over('Upgrade', false, report.Reason), over('RollBack', true)]
    case 'RollbackFailed':
      return [over('Upgrade', false, report.Reason), over('RollBack', false, report.Reason)]
    default:
      return []
  }
}
