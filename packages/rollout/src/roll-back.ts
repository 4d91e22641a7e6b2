import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { sameVersion } from './conclude.ts'
import type { JobView } from './decide-job.ts'
import { askedHalt, type StopReason } from './halt.ts'
import { JobIndex } from './job-index.ts'
import type { JobPlan } from './job-plan.ts'
import type { JobStatusPatch } from './job-status.ts'
import { nodeBrake, type Obstacle } from './obstacle.ts'
import { type Release, releaseOf } from './release.ts'
import { planHash, rollBackTask } from './task-object.ts'
import { statusOf } from './task-state.ts'
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

/** The tasks of the way back: one for each node that the job has changed. */
export function tasksBack({ job, index, node }: Pick<JobView, 'job' | 'index' | 'node'>): NodeUpgradeTask[] {
  return changedBy(index).map((task) => rollBackTask(job, task, node(task.spec.nodeName)))
}

/** A node that was at the version already is successful too, and was left as it was. */
function changedBy(index: JobIndex): NodeUpgradeTask[] {
  return [...index.names()]
    .flatMap((name) => index.get(name)?.task ?? [])
    .filter((task) => {
      const { phase, fromVersion = '', toVersion = task.spec.version } = statusOf(task)
      return phase === 'Successful' && !sameVersion(fromVersion, toVersion)
    })
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
    verdict: over ? failure(reasonOf(job, isWhole(view, successful)), message) : undefined,
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

/** Every node that the job has changed is back. One that was unknown may have turned out to be upgraded since the plan was made. */
function isWhole({ index }: JobView, back: number): boolean {
  return back > 0 && index.counts.unknown === 0 && changedBy(index).length === back
}

function reasonOf(job: NodeUpgradeJob, whole: boolean): Verdict['reason'] {
  if (whole) return 'RolledBack'
  return askedHalt(job) === 'cancelled' ? 'Cancelled' : (job.status?.rollback?.reason as StopReason)
}
