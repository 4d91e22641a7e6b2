import type { Condition, NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { conditionOf, isFinished, JobIndex, jobPlan } from '@upgrade-hub/rollout'
import { cleanLine } from '../text/clean.ts'
import { type NodeLine, nodeLine } from './node-line.ts'

/** A job as the plugins show it, and what `-o json` prints. */
export interface JobReport {
  readonly name: string
  readonly version: string
  /** One word: `Waiting` before a hub has looked at it, the reason of `Accepted` or `Progressing`, or of its end. */
  readonly state: string
  readonly isOver: boolean
  readonly isGood: boolean
  readonly message: string
  readonly counts: {
    readonly total: number
    readonly successful: number
    readonly failed: number
    readonly unknown: number
    readonly inProgress: number
    readonly pending: number
    readonly skipped: number
  }
  /** Empty for a job without waves. */
  readonly waves: readonly {
    readonly name: string
    readonly state: string
    readonly size: number
    readonly approvedBy: string
  }[]
  readonly startTime: string
  readonly completionTime: string
  /** Those that need attention first. */
  readonly nodes: readonly NodeLine[]
  /** Nodes beyond the list. */
  readonly omitted: number
}

/** The tasks of a job in the order of rows; all of them, or only those that matter. */
export function indexOf(tasks: readonly NodeUpgradeTask[], now: number): JobIndex {
  const index = new JobIndex()
  for (const task of tasks) index.upsert(task, now)
  return index
}

/** What is known of a job at a time, with at most so many of its nodes. */
export function jobReport(
  job: NodeUpgradeJob,
  index: JobIndex,
  { now, most }: { now: number; most: number },
): JobReport {
  const nodes = index.rows(most).map((task) => nodeLine(task, now))
  const counts = countsOf(job, index)
  const { message, reason } = lastWord(job)
  return {
    name: job.metadata.name,
    version: versionOf(job),
    state: reason,
    isOver: isFinished(job),
    isGood: conditionOf(job, 'Complete')?.status === 'True',
    message: cleanLine(message, 500),
    counts,
    waves: (job.status?.waves ?? []).map(({ name, state = 'Pending', size = 0, approvedBy = '' }) => ({
      name,
      state,
      size,
      approvedBy: cleanLine(approvedBy, 64),
    })),
    startTime: job.status?.startTime ?? '',
    completionTime: job.status?.completionTime ?? '',
    nodes,
    omitted: Math.max(0, counts.total - nodes.length),
  }
}

/** What the hub says; of a job that it has not yet counted, what the tasks say. */
function countsOf({ status }: NodeUpgradeJob, { counts, size }: JobIndex): JobReport['counts'] {
  const { total, successful, failed, unknown, inProgress, pending, skipped } = {
    total: status?.plan?.total ?? size,
    ...counts,
    ...status?.summary,
  }
  return { total, successful, failed, unknown, inProgress, pending, skipped }
}

function lastWord(job: NodeUpgradeJob): Pick<Condition, 'reason' | 'message'> {
  const accepted = conditionOf(job, 'Accepted')
  if (!accepted)
    return {
      reason: 'Waiting',
      message: 'no hub has looked at this job yet: kubectl nodeupgrade doctor says why',
    }
  if (accepted.status !== 'True') return accepted
  const over = [conditionOf(job, 'Finished'), conditionOf(job, 'Progressing')].find(
    (said) => said !== undefined,
  )
  return over ?? accepted
}

function versionOf(job: NodeUpgradeJob): string {
  try {
    return jobPlan(job).version
  } catch {
    return cleanLine(job.spec?.version ?? '', 64) // A stored job may say anything.
  }
}
