import type { NodeUpgradeJob } from '@upgrade-hub/api'
import type { Say } from './conditions.ts'
import type { HubEvent } from './decisions.ts'
import { conditionOf } from './halt.ts'
import type { Obstacle } from './obstacle.ts'
import type { Verdict } from './tolerance.ts'

/** The conditions of a job that is not over. */
export function saysOf(job: NodeUpgradeJob, obstacle: Obstacle | undefined): Say[] {
  const accepted = conditionOf(job, 'Accepted')
  return [
    {
      type: 'Accepted',
      status: true,
      reason: 'Accepted',
      message: accepted?.status === 'True' ? accepted.message : 'the job is ours to run',
    },
    {
      type: 'Progressing',
      status: obstacle?.progressing ?? true,
      reason: obstacle?.reason ?? 'Upgrading',
      message: obstacle?.message ?? 'nodes are being upgraded',
    },
    pausedSay(job, obstacle),
  ]
}

/** What is worth an event of what the job says now, and of its end. */
export function eventsOf(
  job: NodeUpgradeJob,
  says: readonly Say[],
  verdict: Verdict | undefined,
): HubEvent[] {
  const events = says.filter((say) => isNews(job, say)).flatMap(eventOf)
  if (!verdict) return events
  const reason = verdict.succeeded ? 'Completed' : verdict.reason === 'NoTargets' ? 'NoTargets' : 'Failed'
  const type = verdict.succeeded ? 'Normal' : 'Warning'
  return [...events, { on: 'job', type, reason, note: `${verdict.reason}: ${verdict.message}` }]
}

/** True when a condition is to turn, or to have another reason. */
export function changesCondition(job: NodeUpgradeJob, says: readonly Say[]): boolean {
  return says.some(({ type, status, reason }) => {
    const stored = conditionOf(job, type)
    return stored?.status !== (status ? 'True' : 'False') || stored.reason !== reason
  })
}

function pausedSay(job: NodeUpgradeJob, obstacle: Obstacle | undefined): Say {
  if (job.control?.paused)
    return { type: 'Paused', status: true, reason: 'Paused', message: 'no further node prepares or is taken' }
  if (obstacle?.pauses) {
    const message = `${obstacle.message}; cancel, or raise control.retry or control.failureTolerate to go on`
    return { type: 'Paused', status: true, reason: obstacle.reason, message }
  }
  return { type: 'Paused', status: false, reason: 'NotPaused', message: 'the job is not paused' }
}

/** A job that was never paused is not resumed. */
function isNews(job: NodeUpgradeJob, { type, status, reason }: Say): boolean {
  const stored = conditionOf(job, type)
  return (
    (stored?.status === 'True') !== status || (!status && type === 'Progressing' && stored?.reason !== reason)
  )
}

/** Of what stops or holds a job, `Progressing` tells, whose reason is its name. */
function eventOf({ type, status, reason, message }: Say): HubEvent[] {
  if (type === 'Paused') {
    if (status && reason !== 'Paused') return []
    return [{ on: 'job', type: 'Normal', reason: status ? 'Paused' : 'Resumed', note: message }]
  }
  const isWarning = type === 'Progressing' && !status && WARNINGS.includes(reason)
  return isWarning ? [{ on: 'job', type: 'Warning', reason, note: message }] : []
}

const WARNINGS = ['ThresholdBreached', 'ProgressDeadlineExceeded', 'SchemaReplaced']
