/** One row of the closing table: a vitest project and the control plane it needs. */
export interface Layer {
  readonly name: string
  readonly plane: '' | 'embedded' | 'real' | 'both'
  readonly project: string
}

/** In the order of `npm test`: what is fast and close to the source speaks first. */
export const LAYERS: readonly Layer[] = [
  { name: 'unit', plane: '', project: 'unit' },
  { name: 'component', plane: '', project: 'component' },
  { name: 'integration', plane: 'embedded', project: 'integration-embedded' },
  { name: 'integration', plane: 'real', project: 'integration-real' },
  { name: 'conformance', plane: 'both', project: 'conformance' },
  { name: 'system', plane: 'real', project: 'system' },
  { name: 'lab', plane: 'real', project: 'lab' },
]

export function needsRealPlane({ plane }: Layer): boolean {
  return plane === 'real' || plane === 'both'
}

/** What a run of one project reports (`reporter.ts` writes it). */
export interface Report {
  readonly passed: number
  readonly failed: readonly string[]
  readonly skipped: readonly { readonly title: string; readonly note?: string }[]
}

export interface LayerResult {
  readonly layer: Layer
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Why something failed or was skipped, worst first, one line each. */
  readonly notes: readonly string[]
  readonly seconds: number
}

export interface Ended {
  readonly layer: Layer
  /** Undefined where vitest ended before it could say anything. */
  readonly report: Report | undefined
  readonly exitCode: number | null
  readonly seconds: number
  /** Why the layer's control plane is not there. */
  readonly absent?: string
}

/**
 * The verdict on one layer. A layer never passes in silence: no report, no tests, or an exit code that its counts do
 * not explain is a failure, and on CI so is a component that is missing.
 */
export function judge({ layer, report, exitCode, seconds, absent }: Ended, isCi: boolean): LayerResult {
  if (report === undefined) return broken(layer, seconds, `vitest ended with code ${exitCode} and no report`)
  const notes = report.failed.map((title) => `failed: ${title}`)
  const skips = absent ? [`did not run: ${absent}`] : reasons(report.skipped)
  if (report.passed + report.failed.length + report.skipped.length === 0) notes.push('there is no test in it')
  else if (exitCode !== 0 && notes.length === 0)
    notes.push(`vitest ended with code ${exitCode} beside its tests`)
  const missing = isCi && skips.length > 0 ? ['on CI nothing may be skipped'] : []
  const failures = [...notes, ...missing]
  return {
    layer,
    passed: report.passed,
    failed: failures.length,
    skipped: report.skipped.length,
    notes: [...failures, ...skips],
    seconds,
  }
}

function broken(layer: Layer, seconds: number, note: string): LayerResult {
  return { layer, passed: 0, failed: 1, skipped: 0, notes: [note], seconds }
}

function reasons(skipped: Report['skipped']): string[] {
  const counted = new Map<string, number>()
  for (const { title, note } of skipped) {
    const reason = note ?? title
    counted.set(reason, (counted.get(reason) ?? 0) + 1)
  }
  return Array.from(counted, ([reason, count]) => `skipped ${count}: ${reason}`)
}
