import type { NodeUpgradeJob } from '@upgrade-hub/api'
import type { JobView } from './decide-job.ts'
import { askedHalt, type StopReason } from './halt.ts'
import { JobIndex } from './job-index.ts'
import type { JobPlan } from './job-plan.ts'
import type { JobStatusPatch } from './job-status.ts'
import { nodeBrake, type Obstacle } from './obstacle.ts'
import { type Release, releaseOf } from './release.ts'
import { planHash } from './task-object.ts'
import { failure, type Verdict } from './tolerance.ts'

/** The way back: what may begin, what is said, and what it has come to when it is over. */
export interface WayBack {
  readonly release: Release
  readonly obstacle: Obstacle
  readonly verdict: Verdict | undefined
}

/** Why a job that has stopped is to go back; undefined when it is not. Nothing of it may be open any more. */
export function reasonToGoBack(
  { job, index }: JobView,
  plan: JobPlan,
  stops: StopReason | undefined,
): StopReason | undefined {
  if (plan.onFailure !== 'RollBack' || !stops || stops === 'SchemaReplaced') return undefined
  const isBegun = job.status?.rollback !== undefined
  return isBegun || (index.counts.successful > 0 && askedHalt(job) !== 'cancelled') ? stops : undefined
}

/** The commit point of the way back; all its tasks must exist. */
export function rollBackPatch(reason: StopReason, taskNames: readonly string[]): JobStatusPatch {
  return {
    rollback: { reason, total: taskNames.length, hash: planHash(taskNames), successful: 0, failed: 0 },
  }
}

/** The upgraded nodes go back by the same machinery, all in one wave and at any time. */
export function wayBack(view: JobView, plan: JobPlan): WayBack {
  const { job, back = new JobIndex() } = view
  const { total = 0 } = job.status?.rollback ?? {}
  const { pending, inProgress, successful } = back.counts
  const asked = askedHalt(job)
  const over = pending + inProgress === 0 && !job.metadata.deletionTimestamp
  const way = { halted: asked !== 'none' || over, current: 0, frontier: Number.POSITIVE_INFINITY }
  const release = releaseOf({ ...view, index: back }, { ...plan, waves: [] }, way)
  const message = `${successful} of ${total} upgraded nodes run their old version again`
  return {
    release,
    obstacle:
      nodeBrake({ ...view, index: back }, release) ??
      OBSTACLES[asked === 'stopped' ? 'none' : asked](message),
    verdict: over ? failure(reasonOf(job, successful === total), message) : undefined,
  }
}

/** As it is to be shown. */
export function rollBackStatus({ job, back }: JobView): JobStatusPatch {
  const { rollback } = job.status ?? {}
  if (!rollback || !back) return {}
  const { successful, failed, unknown, skipped } = back.counts
  return { rollback: { ...rollback, successful, failed: failed + unknown + skipped } }
}

const OBSTACLES: Readonly<Record<'none' | 'paused' | 'cancelled', (message: string) => Obstacle>> = {
  none: (message) => ({ reason: 'RollingBack', message, progressing: true }),
  paused: (message) => ({ reason: 'Paused', message: `the job is paused: ${message}`, progressing: false }),
  cancelled: (message) => ({
    reason: 'Cancelling',
    message: `the job is cancelled: ${message}`,
    progressing: true,
  }),
}

function reasonOf(job: NodeUpgradeJob, isWhole: boolean): Verdict['reason'] {
  if (isWhole) return 'RolledBack'
  return askedHalt(job) === 'cancelled' ? 'Cancelled' : (job.status?.rollback?.reason as StopReason)
}
