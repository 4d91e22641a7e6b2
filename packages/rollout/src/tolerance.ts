import type { NodeUpgradeJob } from '@upgrade-hub/api'
import type { StopReason } from './halt.ts'
import type { Counts } from './job-index.ts'
import { type JobPlan, ratioOf } from './job-plan.ts'
import { toleranceSentence } from './reasons.ts'

/** Why a job is over. */
export type FinishReason =
  | 'Completed'
  | 'CompletedWithFailures'
  | 'Cancelled'
  | StopReason
  | 'RolledBack'
  | 'NoTargets'

export interface Verdict {
  readonly reason: FinishReason
  readonly succeeded: boolean
  readonly message: string
}

/** The ratio of failed nodes that the job bears: what a person has set since, else its own. */
export function toleranceOfJob({ control }: NodeUpgradeJob, { tolerance }: JobPlan): number {
  const said = ratioOf(control?.failureTolerate)
  return said === undefined || Number.isNaN(said) ? tolerance : said
}

/** The tolerance is broken while the job runs: refusals before anything was touched do not count yet. */
export function isBreached(counts: Counts, total: number, tolerance: number): boolean {
  const of = denominator(counts, total)
  return counts.counted > 0 && of > 0 && counts.counted / of > tolerance
}

/** What a job without an open task has come to. `stoppedBy` is the reason that was stored when it stopped early. */
export function finalVerdict(
  counts: Counts,
  { total, tolerance, stoppedBy }: { total: number; tolerance: number; stoppedBy: StopReason | undefined },
): Verdict {
  const of = denominator(counts, total)
  const failed = counts.failed + counts.unknown
  if (stoppedBy === 'SchemaReplaced')
    return failure('SchemaReplaced', 'the spec is no longer the one that the tasks were made from')
  if (stoppedBy === 'ProgressDeadlineExceeded')
    return failure(
      stoppedBy,
      `no node moved for too long: ${counts.successful} of ${total} nodes run the version`,
    )
  if (stoppedBy === 'ThresholdBreached' || counts.stopped > 0 || (of > 0 && failed / of > tolerance)) {
    return failure('ThresholdBreached', toleranceSentence(failed, of))
  }
  if (total > 0 && of <= 0 && counts.needless === total)
    return success('Completed', 'every node already runs the version or is excluded')
  if (cancelledOf(counts, total) > 0)
    return failure('Cancelled', `cancelled with ${counts.successful} of ${total} nodes upgraded`)
  if (of <= 0) return failure('NoTargets', 'no nodes were matched with selector')
  if (failed > 0)
    return success('CompletedWithFailures', `${failed} of ${of} nodes failed, which the job tolerates`)
  return success('Completed', `${counts.successful} of ${total} nodes run the version`)
}

/** Tasks that a person deleted are cancelled ones that left no trace. */
function cancelledOf(counts: Counts, total: number): number {
  return counts.cancelled + missing(counts, total)
}

/** Planned tasks that no longer exist. */
export function missing(counts: Counts, total: number): number {
  const { pending, inProgress, successful, failed, unknown, skipped } = counts
  return Math.max(0, total - pending - inProgress - successful - failed - unknown - skipped)
}

/** Nodes that could fail or succeed. */
export function denominator(counts: Counts, total: number): number {
  return total - counts.skipped - missing(counts, total)
}

function success(reason: FinishReason, message: string): Verdict {
  return { reason, succeeded: true, message }
}

/** A verdict that is none of success. */
export function failure(reason: FinishReason, message: string): Verdict {
  return { reason, succeeded: false, message }
}
