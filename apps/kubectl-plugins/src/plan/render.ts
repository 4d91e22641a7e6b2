import { table } from '../text/table.ts'
import type { Terminal } from '../text/terminal.ts'
import { span } from '../text/time.ts'
import { NEVER_ENDS, type PlanReport } from './plan-report.ts'

/** The plan as a page; at most so many nodes of each list. */
export function planText(
  name: string,
  report: PlanReport,
  { terminal, most }: { terminal: Terminal; most: number },
): string[] {
  const blocks = [
    heading(name, report, terminal),
    waveTable(report),
    nodeTable(report, most),
    refusedTable(report, most),
    notes(report),
  ]
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, at) => (at === 0 ? block : ['', ...block]))
}

function heading(name: string, report: PlanReport, terminal: Terminal): string[] {
  const { version, total, toUpgrade, atOnce, tolerated, outcome, outcomeMessage } = report
  const failures = tolerated === 1 ? '1 failure' : `${tolerated} failures`
  return [
    `${terminal.paint('bold', name)} to ${version}: ${toUpgrade} of ${total} nodes, ${atOnce} at a time, ${failures} tolerated`,
    timeText(report),
    outcome === NEVER_ENDS ? outcomeMessage : `it would end ${outcome}: ${outcomeMessage}`,
  ].filter(Boolean)
}

function timeText({ aboutSeconds, atMostSeconds, measured }: PlanReport): string {
  const by = measured
    ? ` as ${measured.nodes} ${measured.nodes === 1 ? 'node' : 'nodes'} of ${measured.jobs.join(', ')} took ${time(measured.prepareSeconds)} to prepare and ${time(measured.proceedSeconds)} to upgrade`
    : ''
  const about = aboutSeconds === undefined ? [] : [`about ${time(aboutSeconds)},${by}`]
  const most = atMostSeconds === undefined ? [] : [`at most ${time(atMostSeconds)} by its time limits`]
  const unknown = measured ? [] : ['no earlier job to measure by']
  return [...about, ...most, ...unknown].join('; ')
}

function waveTable({ waves }: PlanReport): string[] {
  if (waves.length === 0) return []
  const rows = waves.map(({ name, nodes, atOnce, approval, soakSeconds, ...when }) => [
    name,
    String(nodes),
    String(atOnce),
    nodes === 0 ? '' : begins(when.beginsSeconds),
    nodes === 0 ? '' : begins(when.endsSeconds),
    soakSeconds > 0 ? time(soakSeconds) : '',
    approval ? 'required' : '',
  ])
  return table(['WAVE', 'NODES', 'AT ONCE', 'BEGINS', 'ENDS', 'SOAK', 'APPROVAL'], rows)
}

function nodeTable({ nodes, waves }: PlanReport, most: number): string[] {
  if (nodes.length === 0) return []
  const hasWaves = waves.length > 0
  const rows = nodes
    .slice(0, most)
    .map(({ node, wave, from, beginsSeconds, endsSeconds }) => [
      node,
      ...(hasWaves ? [wave] : []),
      from,
      begins(beginsSeconds),
      begins(endsSeconds),
    ])
  return [
    ...table(['NODE', ...(hasWaves ? ['WAVE'] : []), 'FROM', 'BEGINS', 'ENDS'], rows),
    ...more(nodes.length, most),
  ]
}

function refusedTable({ refused }: PlanReport, most: number): string[] {
  if (refused.length === 0) return []
  const rows = refused.slice(0, most).map(({ node, reason, message }) => [node, reason, message])
  return [...table(['NOT UPGRADED', 'REASON', 'WHY'], rows), ...more(refused.length, most)]
}

function notes({ notes }: PlanReport): string[] {
  return [`Nothing was written. Taken to be so: ${notes.join('; ')}.`]
}

function more(count: number, most: number): string[] {
  return count > most ? [`… and ${count - most} more: --all shows every node`] : []
}

function begins(seconds: number | undefined): string {
  return seconds === undefined ? 'never' : `+${time(seconds)}`
}

function time(seconds: number): string {
  return span(seconds * 1_000)
}
