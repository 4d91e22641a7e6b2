import type { LayerResult } from './layers.ts'

const NOTES_SHOWN = 10

/** The closing table: a row for every layer and plane, its reasons below it. */
export function tableOf(results: readonly LayerResult[]): string {
  const header = ['layer', 'plane', 'passed', 'failed', 'skipped', 'time']
  const rows = results.map(({ layer, passed, failed, skipped, seconds }) => [
    layer.name,
    layer.plane || '-',
    String(passed),
    String(failed),
    String(skipped),
    `${Math.round(seconds)} s`,
  ])
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const print = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const body = rows.flatMap((row, index) => [print(row), ...notesOf(results[index])])
  return [print(header), ...body].join('\n')
}

function notesOf(result: LayerResult | undefined): string[] {
  const notes = result?.notes ?? []
  const more = notes.length > NOTES_SHOWN ? [`… and ${notes.length - NOTES_SHOWN} more`] : []
  return [...notes.slice(0, NOTES_SHOWN), ...more].map(
    (note) => `    ${note.replace(/\s+/g, ' ').slice(0, 200)}`,
  )
}

/** The last line of `npm test`. */
export function countsOf(results: readonly LayerResult[]): string {
  const sum = (of: 'passed' | 'failed' | 'skipped') =>
    results.reduce((total, result) => total + result[of], 0)
  return `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`
}
