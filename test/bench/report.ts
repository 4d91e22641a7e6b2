import { writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'

/** One number of a bench: `target` is what quality.md asks for, when it asks. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly target?: string
  readonly met?: boolean
}

export interface BenchReport {
  readonly bench: string
  readonly options: Readonly<Record<string, unknown>>
  readonly figures: readonly Figure[]
}

/** A figure with an upper bound. */
export function atMost(name: string, value: number, unit: string, limit: number): Figure {
  return { name, value, unit, target: `<= ${limit}`, met: value <= limit }
}

/** A figure with a lower bound. */
export function atLeast(name: string, value: number, unit: string, limit: number): Figure {
  return { name, value, unit, target: `>= ${limit}`, met: value >= limit }
}

export function plain(name: string, value: number, unit: string): Figure {
  return { name, value, unit }
}

/** What ran it: numbers of two machines are never compared. */
function machine(): Record<string, unknown> {
  const [cpu] = cpus()
  return {
    cpu: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
  }
}

export function printReport(report: BenchReport, jsonFile: string | undefined): void {
  const width = Math.max(...report.figures.map(({ name }) => name.length))
  console.log(`\n${report.bench} ${JSON.stringify(report.options)}`)
  for (const { name, value, unit, target, met } of report.figures) {
    const goal = target === undefined ? '' : `   ${target} ${met ? 'ok' : 'MISSED'}`
    console.log(`  ${name.padEnd(width)}  ${round(value)} ${unit}${goal}`)
  }
  if (jsonFile) writeFileSync(jsonFile, `${JSON.stringify({ machine: machine(), ...report }, null, 2)}\n`)
}

function round(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(3)
}
