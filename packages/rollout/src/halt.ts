import type { Condition, NodeUpgradeJob } from '@upgrade-hub/api'

/** What a job, as it is stored, forbids its tasks: `paused` starts nothing, `stopped` and `cancelled` also end what waits. */
export type Halt = 'none' | 'paused' | 'stopped' | 'cancelled'

/** Reasons of `Progressing=False` after which what waits is ended. They are stored before any task ends by them. */
export const STOPPING_REASONS = ['ThresholdBreached', 'SchemaReplaced']

/** A job that is gone is cancelled; one that is not accepted, or no longer, starts nothing. */
export function haltOf(job: NodeUpgradeJob | undefined): Halt {
  if (!job || job.metadata.deletionTimestamp || job.control?.cancelled) return 'cancelled'
  const progressing = conditionOf(job, 'Progressing')
  if (progressing?.status === 'False' && STOPPING_REASONS.includes(progressing.reason)) return 'stopped'
  return job.control?.paused || !isAccepted(job) ? 'paused' : 'none'
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
