import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import type { JobView } from './decide-job.ts'
import { askedHalt, conditionOf, type StopReason, storedStop } from './halt.ts'
import { type JobPlan, specHash } from './job-plan.ts'
import { NODE_LOCAL } from './names.ts'
import { toleranceSentence } from './reasons.ts'
import type { Release } from './release.ts'
import { timeOf } from './task-state.ts'
import { denominator, isBreached, toleranceOfJob } from './tolerance.ts'
import { windowAt, zoneOf } from './window.ts'

/** Why a job starts no further node now, in the words of its condition `Progressing`. */
export interface Obstacle {
  readonly reason: string
  readonly message: string
  /** Set when the job is over but for what runs: it is stored before any task ends by it, and stays. */
  readonly stops?: StopReason
  /** The condition `Paused` says this too, because a person has to look at it. */
  readonly pauses?: true
  /** The value of `Progressing`: false when nothing will move by itself. */
  readonly progressing: boolean
}

/** What a person or the results of the nodes put in the way of a job; undefined when nothing does. */
export function obstacleOf(view: JobView, plan: JobPlan, total: number): Obstacle | undefined {
  const { job } = view
  const stored = storedStop(job)
  if (stored) return stop(stored, conditionOf(job, 'Progressing')?.message ?? SENTENCES[stored])
  if (isReplaced(view)) return stop('SchemaReplaced', SENTENCES.SchemaReplaced)
  const breach = breachOf(view, plan, total)
  if (breach && plan.onFailure !== 'Pause') return stop('ThresholdBreached', breach)
  if (askedHalt(job) === 'cancelled')
    return { reason: 'Cancelling', message: SENTENCES.Cancelling, progressing: true }
  if (breach) return { reason: 'ThresholdBreached', message: breach, progressing: false, pauses: true }
  return job.control?.paused ? { reason: 'Paused', message: SENTENCES.Paused, progressing: false } : undefined
}

/** The window of the job is closed. Where each node goes by its own clock, each is asked by itself. */
export function closureOf({ window }: JobPlan, now: number): { wakeAt?: number; obstacle?: Obstacle } {
  if (!window || window.timeZone === NODE_LOCAL) return {}
  const { isOpen, until } = windowAt(window, zoneOf(window, undefined), now)
  const wakeAt = until === undefined ? {} : { wakeAt: until }
  if (isOpen) return wakeAt
  const message =
    until === undefined ? 'the window is closed' : `the window is closed until ${rfc3339(until)}`
  return { ...wakeAt, obstacle: { reason: 'WindowClosed', message, progressing: false } }
}

/**
 * A job that nothing is in the way of, and that has not moved for `progressDeadlineSeconds`. When `onFailure` is Pause it is
 * only said: nothing moves anyway, and the first node that does makes it good.
 */
export function stallOf(
  { job, index, now }: JobView,
  plan: JobPlan,
): { wakeAt?: number; obstacle?: Obstacle } | undefined {
  if (plan.progressDeadlineSeconds === undefined) return undefined
  const since = Math.max(index.movedAt, timeOf(job.status?.startTime), resumedAt(job))
  const at = since + plan.progressDeadlineSeconds * 1000
  if (now < at) return { wakeAt: at }
  const message = `no node has moved since ${rfc3339(since)}, which is more than progressDeadlineSeconds`
  const reason = 'ProgressDeadlineExceeded'
  return {
    obstacle: plan.onFailure === 'Pause' ? { reason, message, progressing: false } : stop(reason, message),
  }
}

/** All that is left to do waits for the clocks of its nodes. */
export function windowBrake({ idle, outside }: Release): Obstacle | undefined {
  if (!idle || outside === 0) return undefined
  const message = `${outside} nodes are prepared and wait for the window by their own clocks`
  return { reason: 'WindowClosed', message, progressing: false }
}

/** All that is left to do waits for people at the nodes, who have `confirmSeconds` for it. */
export function confirmBrake({ index }: JobView, { idle }: Release): Obstacle | undefined {
  const waiting = index.in('confirming').size
  if (!idle || waiting === 0) return undefined
  const message = `${waiting} nodes wait for \`edgeadm ctl confirm\``
  return { reason: 'WaitingConfirmation', message, progressing: false }
}

/** Nodes that somebody else took down leave no room for even one more. */
export function nodeBrake({ index }: JobView, { idle, braked }: Release): Obstacle | undefined {
  if (!idle || !braked) return undefined
  const message = `${index.nodes.down} nodes of the job are down: maxUnavailable allows no more`
  return { reason: 'TooManyUnavailable', message, progressing: true }
}

/** Neither a pause is counted nor any other wait that is meant: `Progressing` turned when it was over. */
function resumedAt(job: NodeUpgradeJob): number {
  const progressing = conditionOf(job, 'Progressing')
  return progressing?.status === 'True' ? timeOf(progressing.lastTransitionTime) : 0
}

function breachOf({ job, index }: JobView, plan: JobPlan, total: number): string | undefined {
  const { counts } = index
  if (!isBreached(counts, total, toleranceOfJob(job, plan))) return undefined
  return `${toleranceSentence(counts.counted, denominator(counts, total))}: no further node is started`
}

function isReplaced({ job, index }: JobView): boolean {
  const [member] = index.names()
  const task = member === undefined ? undefined : index.get(member)?.task
  return task !== undefined && task.spec.jobSpecHash !== specHash(job)
}

function stop(reason: StopReason, message: string): Obstacle {
  return { reason, message, stops: reason, progressing: false }
}

const SENTENCES = {
  ThresholdBreached: 'too many nodes failed: no further node is started',
  ProgressDeadlineExceeded: 'no node has moved for too long: no further node is started',
  SchemaReplaced: 'the spec changed under its tasks: no further node is started',
  Cancelling: 'the job is cancelled: nodes that run are waited for',
  Paused: 'the job is paused: no further node prepares or is taken',
} as const
