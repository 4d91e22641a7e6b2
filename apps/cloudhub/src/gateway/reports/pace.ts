/** When progress of one task may be written: at a step's end or after 5 s, at most once in 10 s, never in a phase's first 10 s. */
const PACE = { settleMs: 5_000, betweenWritesMs: 10_000, phaseStartMs: 10_000 } as const

/** Monotonic ms. */
export interface Pace {
  /** When the phase (prepare or proceed of an attempt) began, as far as this process has seen. */
  readonly phaseAt: number
  readonly lastWriteAt: number | undefined
}

/** The moment at which progress that came at `arrivedAt` is due. */
export function progressDueAt(pace: Pace, progress: { arrivedAt: number; isStepEnd: boolean }): number {
  return Math.max(
    pace.phaseAt + PACE.phaseStartMs,
    pace.lastWriteAt === undefined ? 0 : pace.lastWriteAt + PACE.betweenWritesMs,
    progress.isStepEnd ? progress.arrivedAt : progress.arrivedAt + PACE.settleMs,
  )
}

/** Prepare is E0 to E4c, what comes then belongs to the proceed. */
export function phaseOf(attempt: number, step: string): string {
  const number = Number(/^E(\d+)/.exec(step)?.[1] ?? Number.NaN)
  return `${attempt}/${number <= 4 ? 'prepare' : 'proceed'}`
}
