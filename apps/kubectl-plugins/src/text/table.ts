import { stripVTControlCharacters } from 'node:util'

const GAP = '   '

/** Columns as kubectl has them: left-aligned, three blanks between, no blank at a line's end. Cells may be painted. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, ...rows]
  const widths = head.map((_, at) => Math.max(...lines.map((line) => widthOf(line[at] ?? ''))))
  return lines.map((line) =>
    line
      .map((cell, at) => pad(cell, widths[at] ?? 0))
      .join(GAP)
      .trimEnd(),
  )
}

/** At most so many columns of a line that may be painted; what is cut off loses its colour with it. */
export function cut(line: string, columns: number): string {
  return widthOf(line) <= columns
    ? line
    : `${stripVTControlCharacters(line).slice(0, Math.max(0, columns - 1))}…`
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)))
}

function widthOf(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length
}
