import { bar } from '../text/bar.ts'
import { table } from '../text/table.ts'
import type { Color, Terminal } from '../text/terminal.ts'
import { ageOf, span } from '../text/time.ts'
import type { JobReport } from './job-report.ts'
import type { NodeLine } from './node-line.ts'

const BAR = 30
const SMALL_BAR = 12

/** The top of a job: its name and state, a bar with counts, and a sentence. */
export function heading(report: JobReport, terminal: Terminal, now: number): string[] {
  const { name, version, state, message, counts } = report
  const { total, pending, inProgress } = counts
  const ended = total - pending - inProgress
  const share = total === 0 ? 0 : ended / total
  const title = `${terminal.paint('bold', name)} to ${version}: ${terminal.paint(colorOf(report), state)}`
  return [
    title,
    `${bar(share, BAR, terminal.isUnicode)} ${ended}/${total} ended: ${countsText(report, terminal)}`,
    ...wavesText(report, terminal),
    [message, timesText(report, now)].filter(Boolean).join('; '),
  ]
}

/** The table of nodes. On a terminal those at work have a bar. */
export function nodeTable(report: JobReport, terminal: Terminal, options: TableOptions): string[] {
  const { nodes, omitted } = report
  if (nodes.length === 0) return []
  const head = [
    'NODE',
    'PHASE',
    'DOING',
    'FROM',
    'SINCE',
    'REASON',
    ...(options.wide ? ['TRY', 'TO', 'MESSAGE'] : []),
  ]
  const rows = nodes.map((node) => nodeCells(node, terminal, options))
  const more = omitted > 0 ? [terminal.paint('dim', `… and ${omitted} more: --all shows every node`)] : []
  return [...table(head, rows), ...more]
}

export interface TableOptions {
  readonly now: number
  readonly wide: boolean
}

function nodeCells(node: NodeLine, terminal: Terminal, { now, wide }: TableOptions): string[] {
  const doing =
    node.percent === undefined
      ? node.doing
      : `${bar(node.percent / 100, SMALL_BAR, terminal.isUnicode)} ${String(node.percent).padStart(2)}% ${node.doing}`
  return [
    node.node,
    terminal.paint(phaseColor(node), node.phase),
    doing,
    node.from,
    ageOf(node.since, now),
    node.reason,
    ...(wide ? [String(node.attempt), node.to, node.message] : []),
  ]
}

function countsText({ counts }: JobReport, terminal: Terminal): string {
  const parts: readonly (readonly [number, string, Color])[] = [
    [counts.successful, 'upgraded', 'green'],
    [counts.failed, 'failed', 'red'],
    [counts.unknown, 'unknown', 'red'],
    [counts.skipped, 'skipped', 'dim'],
    [counts.inProgress, 'in progress', 'cyan'],
    [counts.pending, 'waiting', 'dim'],
  ]
  const shown = parts.filter(([count]) => count > 0)
  if (shown.length === 0) return 'no node yet'
  return shown.map(([count, word, color]) => terminal.paint(color, `${count} ${word}`)).join(', ')
}

function wavesText({ waves }: JobReport, terminal: Terminal): string[] {
  if (waves.length === 0) return []
  const words = waves.map(({ name, state, size, approvedBy }) => {
    const by = approvedBy ? ` by ${approvedBy}` : ''
    return `${name} (${size}) ${terminal.paint(WAVE_COLORS[state] ?? 'dim', state)}${by}`
  })
  return [`waves: ${words.join(', ')}`]
}

const WAVE_COLORS: Readonly<Record<string, Color>> = {
  Done: 'green',
  Upgrading: 'cyan',
  WaitingForApproval: 'yellow',
  Soaking: 'yellow',
}

function timesText({ startTime, completionTime }: JobReport, now: number): string {
  if (!startTime) return ''
  if (!completionTime) return `started ${ageOf(startTime, now)} ago`
  return `took ${span(Date.parse(completionTime) - Date.parse(startTime))}, ended ${ageOf(completionTime, now)} ago`
}

function colorOf({ isOver, isGood, state }: JobReport): Color {
  if (isOver) return isGood ? 'green' : 'red'
  return state === 'Upgrading' ? 'cyan' : 'yellow'
}

function phaseColor({ phase, doing }: NodeLine): Color {
  switch (phase) {
    case 'Successful':
      return 'green'
    case 'Failure':
    case 'Unknown':
      return 'red'
    case 'InProgress':
      return 'cyan'
    case 'Pending':
      return doing === 'not answering' ? 'yellow' : 'dim'
    case 'Skipped':
    case 'Cancelled':
      return 'dim'
  }
}
