import { type NodeUpgradeJob, type Wave, type WaveState, type WaveStatus } from '@upgrade-hub/api'
import { rfc3339 } from '@upgrade-hub/core'
import type { JobView } from './decide-job.ts'
import type { HubEvent } from './decisions.ts'
import type { JobPlan } from './job-plan.ts'
import { REST_WAVE } from './names.ts'
import { nodeCount } from './node-count.ts'
import type { Obstacle } from './obstacle.ts'
import { timeOf } from './task-state.ts'

/** Where a job stands in its waves. */
export interface WaveCourse {
  /** As they are to be stored; empty for a job without waves. */
  readonly waves: readonly WaveStatus[]
  /** The wave that is on, or the last. */
  readonly current: number
  /** Tasks of waves up to this one may begin; -1 for none. */
  readonly frontier: number
  /** Every wave is done. */
  readonly isDone: boolean
  readonly obstacle?: Obstacle
  readonly wakeAt?: number
}

/**
 * The first wave that is not done is on: it waits for its approval, upgrades, and soaks when its last node has ended. Times and
 * states are stored as soon as they change, so a soak is never begun again.
 */
export function wavesOf(view: JobView, plan: JobPlan, halted: boolean): WaveCourse {
  const { job } = view
  const names = [...plan.waves.map(({ name }) => name), REST_WAVE]
  if (plan.waves.length === 0) return { waves: [], current: 0, frontier: 0, isDone: true }
  const waves: WaveStatus[] = []
  let course: Omit<WaveCourse, 'waves'> | undefined
  names.forEach((name, index) => {
    const stored = job.status?.waves?.find((wave) => wave.name === name)
    const before = { ...stored, name, size: view.index.wave(index).total }
    const next = course ? pending(before) : stepOf(view, { before, wave: plan.waves[index], index, halted })
    waves.push(next.status)
    if (next.status.state !== 'Done' && !course)
      course = { current: index, frontier: index, isDone: false, ...next.course }
  })
  const last = names.length - 1
  return { waves, ...(course ?? { current: last, frontier: last, isDone: true }) }
}

interface Step {
  readonly status: WaveStatus
  readonly course?: Partial<WaveCourse>
}

function stepOf(
  { job, index: tasks, now }: JobView,
  {
    before,
    wave,
    index,
    halted,
  }: { before: WaveStatus; wave: Wave | undefined; index: number; halted: boolean },
): Step {
  const { total, open } = tasks.wave(index)
  if (before.state === 'Done' || total === 0) return { status: { ...before, state: 'Done' } }
  const approval = wave?.approval === 'Required' ? approvalOf(job, before, now) : {}
  if (!approval) return waitForApproval(before, index)
  if (halted && !before.startTime)
    return { status: { ...before, state: 'Pending' }, course: { frontier: index - 1 } }
  const { completionTime, ...begun } = { ...before, ...approval, startTime: before.startTime ?? rfc3339(now) }
  if (open > 0) return { status: { ...begun, state: 'Upgrading' } }
  const ended = { ...begun, completionTime: completionTime ?? rfc3339(now) }
  const until = timeOf(ended.completionTime) + (wave?.soakSeconds ?? 0) * 1000
  return now < until ? soak(ended, until) : { status: { ...ended, state: 'Done' } }
}

function pending(before: WaveStatus): Step {
  return { status: { ...before, state: before.state === 'Done' ? 'Done' : 'Pending' } }
}

/** The approval as it is recorded; undefined while nobody has given it in a name. */
function approvalOf(
  { control }: NodeUpgradeJob,
  { name, approvedBy, approvedAt }: WaveStatus,
  now: number,
): { approvedBy: string; approvedAt: string } | undefined {
  if (approvedBy && approvedAt) return { approvedBy, approvedAt }
  const by = control?.approvals?.find(({ wave }) => wave === name)?.by
  return by ? { approvedBy: by, approvedAt: rfc3339(now) } : undefined
}

function waitForApproval(before: WaveStatus, index: number): Step {
  const message = `wave ${before.name} (${nodeCount(before.size ?? 0)}) waits for an approval in control.approvals`
  return {
    status: { ...before, state: 'WaitingForApproval' },
    course: { frontier: index - 1, obstacle: { reason: 'WaitingForApproval', message, progressing: false } },
  }
}

function soak(status: WaveStatus, until: number): Step {
  const message = `wave ${status.name} has ended and is watched until ${rfc3339(until)}`
  return {
    status: { ...status, state: 'Soaking' },
    course: { wakeAt: until, obstacle: { reason: 'Soaking', message, progressing: false } },
  }
}

/** As they stand when the job is over: nothing soaks or waits for anybody any more. */
export function atEnd(course: WaveCourse): WaveCourse {
  const waves = course.waves.map((wave) => ({ ...wave, ...LAST_STATES[wave.state ?? ''] }))
  return { ...course, waves }
}

const LAST_STATES: Readonly<Record<string, { readonly state: WaveState }>> = {
  Soaking: { state: 'Done' },
  WaitingForApproval: { state: 'Pending' },
}

/** What is worth an event of how the waves have moved on. */
export function waveEvents(
  stored: readonly WaveStatus[] | undefined,
  next: readonly WaveStatus[],
): HubEvent[] {
  return next.flatMap(({ name, state, size, approvedBy }) => {
    const before = stored?.find((wave) => wave.name === name)?.state ?? 'Pending'
    const word = before === state ? undefined : EVENTS[(state ?? 'Pending') as WaveState]
    if (!word) return []
    const approved = approvedBy && word === 'WaveStarted' ? `, approved by ${approvedBy}` : ''
    return [
      {
        on: 'job',
        type: 'Normal',
        reason: word,
        note: `wave ${name}: ${nodeCount(size ?? 0)}${approved}`,
      } as const,
    ]
  })
}

/** A wave without nodes is done without a word. */
const EVENTS: Partial<Record<WaveState, string>> = {
  Upgrading: 'WaveStarted',
  WaitingForApproval: 'ApprovalRequired',
  Soaking: 'WaveSoaking',
}
