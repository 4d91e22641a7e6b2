import type { NodeUpgradeJob } from '@upgrade-hub/api'
import type { Say } from './conditions.ts'
import type { JobDecision, JobView } from './decide-job.ts'
import type { HubEvent } from './decisions.ts'
import { conditionOf, haltOf, STOPPING_REASONS } from './halt.ts'
import { type JobPlan, jobPlan, specHash } from './job-plan.ts'
import { differences, MAX_ROWS, statusPatch } from './job-status.ts'
import { type Release, releaseOf } from './release.ts'
import { isReopenable } from './retry.ts'
import { finalVerdict, isBreached, missing, type Verdict } from './tolerance.ts'

/** How often the status of a job is written at most. */
interface Pace {
  /** Counters and rows; an end and a change of a condition are written at once. */
  readonly flushMs: number
  /** Releases that fall due together share one write. */
  readonly releaseMs: number
}

const PACE: Pace = { flushMs: 2_000, releaseMs: 200 }
/** Every write of a job with more nodes than rows carries all its rows to every watcher, so it is written less often. */
const WIDE_PACE: Pace = { flushMs: 5_000, releaseMs: 1_000 }

interface Course {
  readonly plan: JobPlan
  readonly total: number
  readonly says: readonly Say[]
  readonly verdict: Verdict | undefined
  readonly release: Release
}

/** A planned job: count, release, prepare ahead, say so, and end. */
export function decideRun(view: JobView): JobDecision {
  const { job, index } = view
  const total = job.status?.plan?.total ?? 0
  const plan = jobPlan(job)
  const stoppedBy = stopReason(view, plan, total)
  const halted = stoppedBy !== undefined || haltOf(job) !== 'none'
  const over = isOver(view)
  if (over && missing(index.counts, total) > 0 && !view.complete) return { verifyMembers: true }
  const verdict = over
    ? finalVerdict(index.counts, { total, tolerance: plan.tolerance, stoppedBy })
    : undefined
  const release = releaseOf(view, plan, halted || verdict !== undefined)
  const course = { plan, total, says: saysOf(view, stoppedBy, release.braked), verdict, release }
  const { prepare, taking } = release
  return { ...nextWrite(view, course), ...(verdict ? {} : { prepare, release: taking }) }
}

/** Nothing is open, and no failed task is about to be opened again. */
function isOver({ job, index, node }: JobView): boolean {
  if (index.counts.pending + index.counts.inProgress > 0 || job.metadata.deletionTimestamp) return false
  if (!job.control?.retry) return true
  return ![...index.failed()].some(({ task, nodeName }) => isReopenable({ job, task, node: node(nodeName) }))
}

/** A breach is stored before any task ends by it, and stays one whatever comes later. */
function stopReason({ job, index }: JobView, plan: JobPlan, total: number): string | undefined {
  const stored = conditionOf(job, 'Progressing')
  if (stored?.status === 'False' && STOPPING_REASONS.includes(stored.reason)) return stored.reason
  const [member] = index.names()
  const task = member === undefined ? undefined : index.get(member)?.task
  if (task && task.spec.jobSpecHash !== specHash(job)) return 'SchemaReplaced'
  return isBreached(index.counts, total, plan.tolerance) ? 'ThresholdBreached' : undefined
}

function saysOf({ job, index }: JobView, stoppedBy: string | undefined, braked: boolean): Say[] {
  const accepted = conditionOf(job, 'Accepted')
  const paused = job.control?.paused === true
  return [
    {
      type: 'Accepted',
      status: true,
      reason: 'Accepted',
      message: accepted?.status === 'True' ? accepted.message : 'the job is ours to run',
    },
    progressing(job, stoppedBy, braked ? index.nodes.down : 0),
    {
      type: 'Paused',
      status: paused,
      reason: paused ? 'Paused' : 'NotPaused',
      message: paused ? 'no further node prepares or is taken' : 'the job is not paused',
    },
  ]
}

function progressing(job: NodeUpgradeJob, stoppedBy: string | undefined, tooManyDown: number): Say {
  const say = (status: boolean, reason: string, message: string) => ({
    type: 'Progressing',
    status,
    reason,
    message,
  })
  if (stoppedBy === 'ThresholdBreached')
    return say(false, stoppedBy, 'too many nodes failed: no further node is started')
  if (stoppedBy) return say(false, stoppedBy, 'the spec changed under its tasks: no further node is started')
  if (haltOf(job) === 'cancelled')
    return say(true, 'Cancelling', 'the job is cancelled: nodes that run are waited for')
  if (job.control?.paused) return say(false, 'Paused', 'the job is paused')
  if (tooManyDown > 0)
    return say(
      true,
      'TooManyUnavailable',
      `${tooManyDown} nodes of the job are down: maxUnavailable allows no more`,
    )
  return say(true, 'Upgrading', 'nodes are being upgraded')
}

/** A release, an end and a change of a condition are written at once; the rest waits until the next flush is due. */
function nextWrite(view: JobView, { says, verdict, release, total }: Course): Omit<JobDecision, 'prepare'> {
  const { job, index, now, pace } = view
  const events = eventsOf(job, says, verdict)
  const { flushMs, releaseMs } = index.size > MAX_ROWS ? WIDE_PACE : PACE
  const flushAt = pace.flushedAt + flushMs
  const flushDue = now >= flushAt
  const releaseDue = release.added > 0 && now >= pace.releasedAt + releaseMs
  const wakeAt = release.added > 0 && !releaseDue ? pace.releasedAt + releaseMs : flushAt
  if (!flushDue && !releaseDue && !verdict && !changesCondition(job, says)) return { wakeAt }
  const releasing = verdict ? [] : releaseDue ? release.wanted : release.kept
  const flush = flushDue || !releaseDue || verdict !== undefined
  const base = flush
    ? statusPatch(job, { index, total, says, verdict, releasing, withRows: flushDue, now })
    : differences(job.status ?? {}, { releasing: [...releasing] })
  const image =
    releaseDue && release.digest ? { image: { ...job.status?.image, digest: release.digest } } : {}
  const status = { ...base, ...image }
  if (Object.keys(status).length === 0) return release.added > 0 && !releaseDue ? { wakeAt } : {}
  return { write: { target: 'status', status, flush, release: releaseDue }, events }
}

function changesCondition(job: NodeUpgradeJob, says: readonly Say[]): boolean {
  return says.some(({ type, status, reason }) => {
    const stored = conditionOf(job, type)
    return stored?.status !== (status ? 'True' : 'False') || stored.reason !== reason
  })
}

function eventsOf(job: NodeUpgradeJob, says: readonly Say[], verdict: Verdict | undefined): HubEvent[] {
  const events = says.filter((say) => isNews(job, say)).flatMap(eventOf)
  if (!verdict) return events
  const reason = verdict.succeeded ? 'Completed' : verdict.reason === 'NoTargets' ? 'NoTargets' : 'Failed'
  const type = verdict.succeeded ? 'Normal' : 'Warning'
  return [...events, { on: 'job', type, reason, note: `${verdict.reason}: ${verdict.message}` }]
}

/** A job that was never paused is not resumed. */
function isNews(job: NodeUpgradeJob, { type, status, reason }: Say): boolean {
  const stored = conditionOf(job, type)
  return (
    (stored?.status === 'True') !== status || (!status && type === 'Progressing' && stored?.reason !== reason)
  )
}

function eventOf({ type, status, reason, message }: Say): HubEvent[] {
  if (type === 'Paused')
    return [{ on: 'job', type: 'Normal', reason: status ? 'Paused' : 'Resumed', note: message }]
  const stops = type === 'Progressing' && STOPPING_REASONS.includes(reason)
  return stops ? [{ on: 'job', type: 'Warning', reason, note: message }] : []
}
