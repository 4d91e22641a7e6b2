import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'

/** What a person sees of one node: the same words as `kubectl get nut -o wide`. */
export interface Row {
  readonly node: string
  readonly phase: string
  readonly stage: string
  readonly attempt: string
  readonly versions: string
  readonly reason: string
}

const HEADINGS: Row = {
  node: 'NODE',
  phase: 'PHASE',
  stage: 'STAGE',
  attempt: 'ATTEMPT',
  versions: 'FROM → TO',
  reason: 'REASON',
}
const COLUMNS = ['node', 'phase', 'stage', 'attempt', 'versions', 'reason'] as const
const REASON_WIDTH = 60

/** What each step of an attempt on the node is called for a person. */
const STEPS: Readonly<Record<string, string>> = {
  E0: 'accepted',
  E1: 'lock',
  E2: 'check',
  E3: 'download',
  E4: 'stage',
  E4c: 'wait for confirmation',
  E5: 'back up',
  E6: 'stop',
  E7: 'swap',
  E8: 'start',
  E9: 'health',
  E10: 'commit',
  E11: 'report',
  E12: 'clean up',
  prepared: 'ready',
}

export function rowsOf(tasks: readonly NodeUpgradeTask[]): Row[] {
  return tasks.map(rowOf).sort((a, b) => a.node.localeCompare(b.node, 'en', { numeric: true }))
}

function rowOf(task: NodeUpgradeTask): Row {
  const { status } = task
  const from = status?.fromVersion ?? status?.edge?.answer?.fromVersion ?? ''
  return {
    node: task.spec.nodeName,
    phase: status?.phase ?? 'Pending',
    stage: status?.completionTime ? '' : stageOf(task),
    attempt: status?.attempt ? String(status.attempt) : '',
    versions: `${from || '?'} → ${task.spec.version}`,
    reason: (status?.message || status?.reason || '').slice(0, REASON_WIDTH),
  }
}

function stageOf(task: NodeUpgradeTask): string {
  const step = task.status?.edge?.step
  // R5 to R10 are the steps of E5 to E10 on the way back.
  const word = step?.startsWith('R') ? 'roll back' : step ? (STEPS[step] ?? step) : ''
  return [task.status?.stage, word && `(${word})`].filter(Boolean).join(' ')
}

/** The table as lines, columns padded; `color` for a terminal. */
export function renderTable(rows: readonly Row[], color: boolean): string[] {
  const all = [HEADINGS, ...rows]
  const widths = COLUMNS.map((column) => Math.max(...all.map((row) => row[column].length)))
  return all.map((row, index) => {
    const line = COLUMNS.map((column, i) => row[column].padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
    return color ? paint(line, index === 0 ? 'head' : row.phase) : line
  })
}

const PAINT: Readonly<Record<string, number>> = {
  head: 1,
  Successful: 32,
  Failure: 31,
  Unknown: 33,
  InProgress: 36,
}

function paint(line: string, phase: string): string {
  const code = PAINT[phase]
  return code === undefined ? line : `\u001b[${code}m${line}\u001b[0m`
}

/** One line about the job as a whole. */
export function headline(job: NodeUpgradeJob): string {
  const { status } = job
  const finished = status?.conditions?.find(
    (condition) => condition.type === 'Finished' && condition.status === 'True',
  )
  const end = finished ? `, ${finished.reason}: ${finished.message}` : ''
  return `${job.metadata.name} → ${job.spec?.version ?? ''}   ${status?.phase || 'new'} ${status?.progress ?? ''}${end}`
}
