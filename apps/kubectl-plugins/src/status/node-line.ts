import type { NodeUpgradeTask, TaskPhase } from '@upgrade-hub/api'
import { statusOf, type TaskState, taskState } from '@upgrade-hub/rollout'
import { cleanLine } from '../text/clean.ts'

/** One node of a job, as the plugins show it. */
export interface NodeLine {
  readonly node: string
  readonly phase: TaskPhase
  /** What goes on there, in words; empty when nothing does. */
  readonly doing: string
  /** Percent of its way from the first check to the proof, while it runs. */
  readonly percent?: number
  readonly attempt: number
  readonly from: string
  readonly to: string
  readonly reason: string
  readonly message: string
  /** When the phase or the attempt began or ended, RFC 3339; empty before its turn. */
  readonly since: string
}

interface Step {
  readonly words: string
  /** Percent of the whole way when the step begins. */
  readonly at: number
}

/** The edge's steps as a person would say them; the shares are those of a small image on a common link. */
const STEPS: Readonly<Record<string, Step>> = {
  E0: { words: 'starting', at: 0 },
  E1: { words: 'starting', at: 1 },
  E2: { words: 'checking', at: 2 },
  E3: { words: 'downloading', at: 5 },
  E4: { words: 'staging', at: 50 },
  E4c: { words: 'waiting for confirmation at the node', at: 55 },
  prepared: { words: 'prepared', at: 60 },
  E5: { words: 'backing up', at: 62 },
  E6: { words: 'stopping the agent', at: 68 },
  E7: { words: 'swapping', at: 72 },
  E8: { words: 'starting the new agent', at: 76 },
  E9: { words: 'proving health', at: 80 },
  E10: { words: 'committing', at: 94 },
  R5: { words: 'rolling back', at: 80 },
  R6: { words: 'rolling back', at: 84 },
  R7: { words: 'rolling back', at: 88 },
  R8: { words: 'starting the old agent', at: 91 },
  R9: { words: 'proving the old agent', at: 94 },
  R10: { words: 'starting what is whole', at: 94 },
  E11: { words: 'reporting', at: 96 },
  E12: { words: 'cleaning up', at: 98 },
  ended: { words: 'being verified', at: 99 },
}
/** The download is the long part and reports how far it is. */
const DOWNLOAD = { step: 'E3', from: 5, to: 50 }

/** The line of one task at a time. */
export function nodeLine(task: NodeUpgradeTask, now: number): NodeLine {
  const status = statusOf(task)
  const state = taskState(task, now)
  const percent = percentOf(task, state)
  return {
    node: task.spec.nodeName,
    phase: status.phase,
    doing: doingOf(task, state),
    ...(percent === undefined ? {} : { percent }),
    attempt: status.attempt ?? 0,
    from: cleanLine(status.fromVersion ?? status.edge?.answer?.fromVersion ?? '', 64),
    to: task.spec.version,
    reason: cleanLine(status.reason ?? task.spec.reason ?? '', 64),
    message: cleanLine(status.message ?? task.spec.message ?? ''),
    since: status.completionTime ?? status.hold ?? status.startTime ?? '',
  }
}

function doingOf(task: NodeUpgradeTask, state: TaskState): string {
  switch (state) {
    case 'waiting':
    case 'refused':
      return 'waiting'
    case 'resting':
      return 'waiting for the next try'
    case 'unreachable':
      return 'not answering'
    case 'prepared':
      return 'prepared, waiting for its turn'
    case 'ended':
      return ''
    default:
      return (
        stepOf(task)?.words ?? (state === 'proceeding' ? 'being told to proceed' : 'being told to prepare')
      )
  }
}

function percentOf(task: NodeUpgradeTask, state: TaskState): number | undefined {
  if (state === 'prepared') return STEPS['prepared']?.at
  if (state !== 'preparing' && state !== 'confirming' && state !== 'proceeding') return undefined
  const { edge } = statusOf(task)
  const step = stepOf(task)
  if (edge?.step === DOWNLOAD.step) {
    return Math.round(DOWNLOAD.from + ((DOWNLOAD.to - DOWNLOAD.from) * (edge.percent ?? 0)) / 100)
  }
  return step?.at ?? (state === 'proceeding' ? STEPS['prepared']?.at : 0)
}

/** What the edge said of an earlier attempt, or before it was told to go on, says nothing of now. */
function stepOf(task: NodeUpgradeTask): Step | undefined {
  const { edge, attempt, phase } = statusOf(task)
  if (!edge?.step || edge.attempt !== attempt) return undefined
  const step = STEPS[edge.step]
  const isOld = phase === 'InProgress' && (step?.at ?? 0) < (STEPS['E5']?.at ?? 0)
  return isOld ? undefined : step
}
