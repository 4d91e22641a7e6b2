import type { Action, EdgeCode } from '@upgrade-hub/protocol'

/**
 * The steps of an attempt. E0 intent, E1 lock, E2 precheck, E3 pull, E4 stage, E4c confirmation, `prepared`; E5 recheck,
 * back up and permission, E6 stop, E7 swap, E8 start, E9 health, E10 commit, E11 report, E12 clean up, `ended`. The way
 * back mirrors it: R5 check the backup, R6 stop, R7 put back, R8 start, R9 prove; R10 starts whatever is whole.
 */
export const STEPS = [
  'E0',
  'E1',
  'E2',
  'E3',
  'E4',
  'E4c',
  'prepared',
  'E5',
  'E6',
  'E7',
  'E8',
  'E9',
  'E10',
  'R5',
  'R6',
  'R7',
  'R8',
  'R9',
  'R10',
  'E11',
  'E12',
  'ended',
] as const
export type Step = (typeof STEPS)[number]

/** Stages have a clock each; `rest` has none. */
export type Stage = 'check' | 'download' | 'confirm' | 'upgrade' | 'rollback' | 'rest'

export interface StepRule {
  readonly stage: Stage
  /** Where a step that succeeded leads; E2, E4 and E5 have a second way (see `transition`). */
  readonly next: Step
  /** Where an updater goes on that died here, in the same boot and after a reboot. */
  readonly resume: Step
  readonly resumeAfterReboot: Step
  /** Where a failure leads. */
  readonly onFailure: Step
  /** What an unexpected failure of this step is called on the wire. */
  readonly code: EdgeCode
  /** KubeEdge's action that this step belongs to. */
  readonly action?: Action
}

const rest = (step: Step): StepRule => ({
  stage: 'rest',
  next: step,
  resume: step,
  resumeAfterReboot: step,
  onFailure: 'E11',
  code: 'StateUnreadable',
})

/** Before the agent is stopped: a failure ends the attempt with nothing touched; who died takes the lock again. */
const before = (stage: Stage, next: Step, code: EdgeCode, action: Action): StepRule => ({
  stage,
  next,
  resume: 'E1',
  resumeAfterReboot: 'E1',
  onFailure: 'E11',
  code,
  action,
})

const again = (step: Step) => ({ resume: step, resumeAfterReboot: step })

/** From the stop on: a failure leads back to the old agent. */
const after = (next: Step, code: EdgeCode, resume: Step, resumeAfterReboot: Step): StepRule => ({
  stage: 'upgrade',
  next,
  resume,
  resumeAfterReboot,
  onFailure: 'R5',
  code,
  action: 'Upgrade',
})

const back = (next: Step, resumeAfterReboot: Step, onFailure: Step, resume: Step): StepRule => ({
  stage: 'rollback',
  next,
  resume,
  resumeAfterReboot,
  onFailure,
  code: 'RollbackFailed',
  action: 'RollBack',
})

/** The table step × (success, crash, reboot, failure) → step: the whole control flow of an attempt. */
export const RULES: Readonly<Record<Step, StepRule>> = {
  E0: { ...before('check', 'E1', 'BadRequest', 'Check'), ...again('E0') },
  E1: before('check', 'E2', 'Busy', 'Check'),
  E2: before('check', 'E3', 'CheckFailed', 'Check'),
  E3: before('download', 'E4', 'PullFailed', 'Check'),
  E4: before('download', 'prepared', 'BadArchive', 'Check'),
  E4c: { ...before('confirm', 'prepared', 'ConfirmTimeout', 'WaitingConfirmation'), ...again('E4c') },
  prepared: rest('prepared'),
  // A permission belongs to one boot: after a reboot the hub is asked again.
  E5: { ...before('upgrade', 'E6', 'BackupFailed', 'BackUp'), resume: 'E5', resumeAfterReboot: 'prepared' },
  // After a reboot the old agent runs again, and nothing was swapped yet: it stays.
  E6: after('E7', 'StopFailed', 'E6', 'R5'),
  E7: after('E8', 'SwapFailed', 'E7', 'E7'),
  E8: after('E9', 'StartFailed', 'E8', 'E8'),
  E9: after('E10', 'HealthFailed', 'E9', 'E8'),
  // After a reboot another agent process runs than the one that was proven.
  E10: { ...after('E11', 'SwapFailed', 'E10', 'E8'), stage: 'rest' },
  R5: back('R6', 'R5', 'R10', 'R5'),
  R6: back('R7', 'R6', 'R10', 'R6'),
  R7: back('R8', 'R6', 'R10', 'R7'),
  R8: back('R9', 'R6', 'E11', 'R8'),
  R9: back('E11', 'R8', 'E11', 'R9'),
  R10: back('E11', 'R10', 'E11', 'R10'),
  E11: { ...rest('E11'), next: 'E12', onFailure: 'E12' },
  E12: { ...rest('E12'), next: 'ended', onFailure: 'ended' },
  ended: rest('ended'),
}

/** Starts of the new agent before it is given up. */
export const MAX_STARTS = 3
/** There is nothing behind the old agent to fall back on: the way back to it is begun anew this often. */
export const MAX_BACK_FAILURES = 2
/** Deaths of the updater in one step before the step counts as failed. */
export const MAX_RESUMES = 10

const PAST_STOP: ReadonlySet<Step> = new Set([
  'E6',
  'E7',
  'E8',
  'E9',
  'E10',
  'R5',
  'R6',
  'R7',
  'R8',
  'R9',
  'R10',
])

/** From here on only the stage timers of the attempt itself end it. */
export function isPastStop(step: Step): boolean {
  return PAST_STOP.has(step)
}

const AGENT_DOWN: ReadonlySet<Step> = new Set(['E6', 'E7', 'R5', 'R6', 'R7'])

/** Steps in which nobody may start the agent: its files are about to change. */
export function keepsAgentDown(step: Step): boolean {
  return AGENT_DOWN.has(step)
}

/** Where an updater has nothing to do until somebody wants something. */
export function isRest(step: Step): boolean {
  return step === 'prepared' || step === 'ended'
}
