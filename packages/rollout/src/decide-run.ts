import type { NodeUpgradeJob } from '@upgrade-hub/api'
import type { Say } from './conditions.ts'
import type { JobDecision, JobView } from './decide-job.ts'
import { earliest } from './earliest.ts'
import { askedHalt, type StopReason } from './halt.ts'
import { type JobPlan, jobPlan } from './job-plan.ts'
import { changesCondition, eventsOf, saysOf } from './job-says.ts'
import { differences, MAX_ROWS, statusPatch } from './job-status.ts'
import { closureOf, confirmBrake, nodeBrake, obstacleOf, stallOf, windowBrake } from './obstacle.ts'
import { type Release, releaseOf, withoutNew } from './release.ts'
import { isReopenable } from './retry.ts'
import { reasonToGoBack, rollBackStatus, wayBack } from './roll-back.ts'
import { finalVerdict, missing, toleranceOfJob, type Verdict } from './tolerance.ts'
import { atEnd, type WaveCourse, waveEvents, wavesOf } from './waves.ts'

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
  readonly total: number
  readonly says: readonly Say[]
  readonly verdict: Verdict | undefined
  readonly release: Release
  readonly course: WaveCourse
}

/** A planned job: count, release, prepare ahead, say so, and end. */
export function decideRun(view: JobView): JobDecision {
  const { job, index } = view
  const total = job.status?.plan?.total ?? 0
  const plan = jobPlan(job)
  const obstacle = obstacleOf(view, plan, total)
  const closure = closureOf(plan, view.now)
  const course = wavesOf(view, plan, (obstacle ?? closure.obstacle) !== undefined)
  const over =
    isOver(view) && (course.isDone || obstacle?.stops !== undefined || askedHalt(job) === 'cancelled')
  if (over && missing(index.counts, total) > 0 && !view.complete) return { verifyMembers: true }
  const goBack = isOver(view) ? reasonToGoBack(view, plan, obstacle?.stops) : undefined
  if (goBack) return decideWayBack(view, { plan, total, course, reason: goBack })
  const halted = (obstacle ?? closure.obstacle) !== undefined || over
  const allowed = releaseOf(view, plan, { halted, ...course })
  const wait =
    obstacle ?? closure.obstacle ?? course.obstacle ?? windowBrake(allowed) ?? confirmBrake(view, allowed)
  const stall = wait || over ? undefined : stallOf(view, plan)
  const inTheWay = wait ?? stall?.obstacle ?? nodeBrake(view, allowed)
  const tolerance = toleranceOfJob(job, plan)
  const verdict = over
    ? finalVerdict(index.counts, { total, tolerance, stoppedBy: inTheWay?.stops })
    : undefined
  const release = stall?.obstacle?.stops ? withoutNew(allowed) : allowed
  const says = saysOf(job, inTheWay)
  const decision = nextWrite(view, { total, says, verdict, release, course })
  if (verdict) return decision
  const { prepare, taking } = release
  const times = [decision.wakeAt, stall?.wakeAt, course.wakeAt, closure.wakeAt, release.wakeAt]
  return { ...decision, prepare, release: taking, ...earliest(times) }
}

function decideWayBack(
  view: JobView,
  { plan, total, course, reason }: { plan: JobPlan; total: number; course: WaveCourse; reason: StopReason },
): JobDecision {
  if (!view.job.status?.rollback) return { write: { target: 'rollback', reason } }
  const { release, obstacle, verdict } = wayBack(view, plan)
  const decision = nextWrite(view, { total, says: saysOf(view.job, obstacle), verdict, release, course })
  return verdict ? decision : { ...decision, prepare: release.prepare, release: release.taking }
}

/** Nothing is open, and no failed task is about to be opened again. */
function isOver({ job, index, node }: JobView): boolean {
  if (index.counts.pending + index.counts.inProgress > 0 || job.metadata.deletionTimestamp) return false
  if (!job.control?.retry) return true
  return ![...index.failed()].some(({ task, nodeName }) => isReopenable({ job, task, node: node(nodeName) }))
}

/** A release, an end and a change of a condition are written at once; the rest waits until the next flush is due. */
function nextWrite(
  view: JobView,
  { says, verdict, release, total, course: running }: Course,
): Omit<JobDecision, 'prepare'> {
  const { job, index, now, pace } = view
  const course = verdict ? atEnd(running) : running
  const events = [...waveEvents(job.status?.waves, course.waves), ...eventsOf(job, says, verdict)]
  const turns = changesCondition(job, says) || changesWaves(job, course)
  const { flushMs, releaseMs } = index.size > MAX_ROWS ? WIDE_PACE : PACE
  const flushAt = pace.flushedAt + flushMs
  const flushDue = now >= flushAt
  const releaseDue = release.added > 0 && now >= pace.releasedAt + releaseMs
  const wakeAt = release.added > 0 && !releaseDue ? pace.releasedAt + releaseMs : flushAt
  if (!flushDue && !releaseDue && !verdict && !turns) return { wakeAt }
  const releasing = verdict ? [] : releaseDue ? release.wanted : release.kept
  const flush = flushDue || turns || !releaseDue || verdict !== undefined
  const base = flush
    ? statusPatch(job, {
        index,
        ...(view.back ? { back: view.back } : {}),
        extra: rollBackStatus(view),
        total,
        says,
        verdict,
        releasing,
        course,
        withRows: flushDue,
        now,
      })
    : differences(job.status ?? {}, { releasing: [...releasing] })
  const image =
    releaseDue && release.digest ? { image: { ...job.status?.image, digest: release.digest } } : {}
  const status = { ...base, ...image }
  if (Object.keys(status).length === 0) return release.added > 0 && !releaseDue ? { wakeAt } : {}
  return { write: { target: 'status', status, flush, release: releaseDue }, events }
}

/** A wave has another state. */
function changesWaves({ status }: NodeUpgradeJob, { waves }: WaveCourse): boolean {
  return waves.some((wave, index) => wave.state !== status?.waves?.[index]?.state)
}
