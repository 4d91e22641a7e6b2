import type { NodeUpgradeJob, NodeUpgradeJobStatus, NodeUpgradeTask } from '@upgrade-hub/api'
import { rfc3339, taskName } from '@upgrade-hub/core'
import { type Say, withConditions } from './conditions.ts'
import type { Patch } from './decisions.ts'
import { conditionOf } from './halt.ts'
import type { JobIndex } from './job-index.ts'
import { canonicalJson, jobPlan } from './job-plan.ts'
import { historyRow, nodeRow } from './rows.ts'
import { missing, type Verdict } from './tolerance.ts'
import type { WaveCourse } from './waves.ts'

export type JobStatusPatch = Patch<NodeUpgradeJobStatus>

/** Rows of `status.nodeStatus`; the others are counted in `omittedNodes`. */
export const MAX_ROWS = 256

/** What the status is worked out from, apart from the job itself. */
export interface Outlook {
  readonly index: JobIndex
  readonly back?: JobIndex
  /** Further keys. */
  readonly extra: JobStatusPatch
  readonly total: number
  readonly says: readonly Say[]
  readonly verdict: Verdict | undefined
  readonly course: WaveCourse
  readonly releasing: NonNullable<NodeUpgradeJobStatus['releasing']>
  readonly withRows: boolean
  readonly now: number
}

/** The status that a job should have, as a merge patch of the keys that differ; undefined when none does. */
export function statusPatch(job: NodeUpgradeJob, outlook: Outlook): JobStatusPatch | undefined {
  return differences(job.status ?? {}, desired(job, outlook))
}

/** The keys of `wanted` that are not yet so. */
export function differences(
  stored: NodeUpgradeJobStatus,
  wanted: JobStatusPatch,
): JobStatusPatch | undefined {
  const known = stored as Readonly<Record<string, unknown>>
  const changed = Object.entries(wanted).filter(
    ([key, value]) => canonicalJson(known[key]) !== canonicalJson(value),
  )
  return changed.length > 0 ? Object.fromEntries(changed) : undefined
}

function desired(job: NodeUpgradeJob, outlook: Outlook): JobStatusPatch {
  const { index, total, says, verdict, releasing, course, now } = outlook
  const ended = total - index.counts.pending - index.counts.inProgress
  return {
    phase: verdict ? (verdict.succeeded ? 'Completed' : 'Failure') : 'InProgress',
    state: verdict ? 'completed' : 'upgrading',
    reason: reasonOf(job, outlook),
    observedGeneration: job.metadata.generation ?? 0,
    conditions: withConditions(job, verdict ? [...says, ...terminal(verdict)] : says, now),
    summary: summaryOf(outlook),
    progress: `${ended}/${total}`,
    ...wavesIn(course),
    ...outlook.extra,
    releasing: [...releasing],
    image: { reference: jobPlan(job).image, ...digestOf(job) },
    ...(outlook.withRows || verdict ? rowsOf(job, outlook) : {}),
    ...(verdict ? { completionTime: job.status?.completionTime ?? rfc3339(now) } : {}),
  }
}

/** The terminal conditions: exactly one of Complete and Failed, and Finished. */
function terminal({ reason, succeeded, message }: Verdict): Say[] {
  const type = succeeded ? 'Complete' : 'Failed'
  return [
    { type: 'Progressing', status: false, reason, message },
    { type, status: true, reason, message },
    { type: 'Finished', status: true, reason, message },
  ]
}

function reasonOf(job: NodeUpgradeJob, { verdict, says }: Outlook): string {
  if (verdict) return verdict.message
  const progressing = says.find((say) => say.type === 'Progressing') ?? conditionOf(job, 'Progressing')
  return progressing?.message ?? ''
}

function wavesIn({ waves, current }: WaveCourse): JobStatusPatch {
  return waves.length > 0 ? { waves: [...waves], currentWave: waves[current]?.name ?? '' } : {}
}

function digestOf({ status }: NodeUpgradeJob): { digest?: string } {
  return status?.image?.digest ? { digest: status.image.digest } : {}
}

/** A node that was taken back has failed: it runs the old version. */
function summaryOf({ index: { counts }, back, total }: Outlook) {
  const takenBack = back?.counts.successful ?? 0
  const { pending, inProgress, successful, failed, unknown, skipped, rolledBack, offline, late } = counts
  const gone = missing(counts, total)
  return {
    total,
    pending,
    inProgress,
    successful: successful - takenBack,
    failed: failed + takenBack,
    unknown,
    skipped: skipped + gone,
    rolledBack: rolledBack + takenBack,
    offline,
    late,
  }
}

function rowsOf({ metadata }: NodeUpgradeJob, { index, back }: Outlook): JobStatusPatch {
  const tasks = index.rows(MAX_ROWS)
  const job = { name: metadata.name, uid: metadata.uid ?? '' }
  const backOf = ({ spec }: NodeUpgradeTask) => back?.get(taskName(job, spec.nodeName, 'RollBack'))?.task
  return {
    nodeStatus: tasks.map((task) => nodeRow(task, backOf(task))),
    status: tasks.map((task) => historyRow(task, backOf(task))),
    omittedNodes: index.size - tasks.length,
  }
}
