import type { Condition, NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'

/** What a job, as it is stored, forbids its tasks: `paused` starts nothing, `stopped` and `cancelled` also end what waits. */
export type Halt = 'none' | 'paused' | 'stopped' | 'cancelled'

/** Reasons of `Progressing=False` after which what waits is ended. They are stored before any task ends by them. */
const STOP_REASONS = ['ThresholdBreached', 'ProgressDeadlineExceeded', 'SchemaReplaced'] as const
export type StopReason = (typeof STOP_REASONS)[number]

/** A job that is gone is cancelled; one that is not accepted, or no longer, starts nothing. */
export function haltOf(job: NodeUpgradeJob | undefined): Halt {
  const asked = askedHalt(job)
  if (asked === 'cancelled' || !job) return 'cancelled'
  if (storedStop(job)) return 'stopped'
  return conditionOf(job, 'Paused')?.status === 'True' ? 'paused' : asked
}

/** The same for one task: what has stopped the job does not stop its way back. */
export function haltOfTask({ spec }: NodeUpgradeTask, job: NodeUpgradeJob | undefined): Halt {
  return spec.purpose === 'RollBack' ? askedHalt(job) : haltOf(job)
}

/** The part of it that does not come from what nodes reported. */
export function askedHalt(job: NodeUpgradeJob | undefined): Halt {
  if (!job || job.metadata.deletionTimestamp || job.control?.cancelled) return 'cancelled'
  return job.control?.paused || !isAccepted(job) ? 'paused' : 'none'
}

/** The reason for which the job has stopped for good. One that only pauses says the same, and that it does. */
export function storedStop(job: NodeUpgradeJob): StopReason | undefined {
  const goesBack = job.status?.rollback?.reason ?? ''
  if (isStop(goesBack)) return goesBack
  const progressing = conditionOf(job, 'Progressing')
  if (progressing?.status !== 'False' || !isStop(progressing.reason)) return undefined
  const onlyPauses = job.spec?.upgradeHub?.onFailure === 'Pause' && progressing.reason !== 'SchemaReplaced'
  return onlyPauses ? undefined : progressing.reason
}

export function conditionOf(job: NodeUpgradeJob, type: string): Condition | undefined {
  return job.status?.conditions?.find((condition) => condition.type === type)
}

export function isAccepted(job: NodeUpgradeJob): boolean {
  return conditionOf(job, 'Accepted')?.status === 'True'
}

/** The job has its terminal conditions; they never flip. */
export function isFinished(job: NodeUpgradeJob): boolean {
  return conditionOf(job, 'Finished')?.status === 'True'
}

function isStop(reason: string): reason is StopReason {
  return STOP_REASONS.some((stop) => stop === reason)
}
