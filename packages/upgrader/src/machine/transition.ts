import type { EdgeCode, Outcome } from '@upgrade-hub/protocol'
import type { AttemptEvent, AttemptState, Facts } from './state.ts'
import { isPastStop, MAX_BACK_FAILURES, MAX_RESUMES, MAX_STARTS, RULES, type Step } from './steps.ts'

/** Where an event leads, and what it ends. Nothing here reads a clock or a disk. */
export interface Move {
  readonly step: Step
  /** The way back has failed and is begun anew, or is given up. */
  readonly wayBackFailed?: true
  readonly failure?: { readonly code: EdgeCode; readonly reason: string }
  /** Nothing was changed and the hub may ask again. */
  readonly refusal?: { readonly code: EdgeCode; readonly reason: string }
  readonly ending?: { readonly outcome: Outcome; readonly code: EdgeCode; readonly reason: string }
}

/** Codes that say "not now" rather than "this failed". */
const REFUSALS: ReadonlySet<EdgeCode> = new Set<EdgeCode>([
  'Busy',
  'BadRequest',
  'Unsupported',
  'UnsupportedTool',
  'UnknownComponent',
  'PolicyRefused',
  'NodeReplaced',
  'StaleEpoch',
  'Downgrade',
  'WrongPlatform',
])

/** The one decision of the machine. `rebooted` is only looked at for `resumed`. */
export function transition(state: AttemptState, event: AttemptEvent, rebooted: boolean): Move {
  switch (event.type) {
    case 'accepted':
      return { step: 'E0' }
    case 'proceed':
      return { step: 'E5' }
    case 'ok':
      return succeed(state, event.facts ?? {})
    case 'failed':
      return fail(state, event.code, event.reason)
    case 'refused':
      return { step: 'prepared', refusal: { code: event.code, reason: event.reason } }
    case 'cancelled':
      return isPastStop(state.step) || state.ending
        ? { step: state.step }
        : end('Cancelled', 'Cancelled', 'cancelled before the agent was stopped')
    case 'resumed':
      return resume(state, rebooted)
    case 'unreadable':
      return end('StateUnreadable', 'StateUnreadable', event.reason)
  }
}

function succeed(state: AttemptState, facts: Facts): Move {
  switch (state.step) {
    case 'E2':
      return facts.already
        ? end('Succeeded', 'AlreadyAtVersion', 'it already runs this version')
        : { step: 'E3' }
    case 'E4':
      return { step: state.confirm ? 'E4c' : 'prepared' }
    case 'E7':
      return startNew(state)
    case 'E10':
      return end('Succeeded', 'Upgraded', '')
    case 'R9':
      return end('RolledBack', failureOf(state).code, failureOf(state).reason)
    case 'R10':
      return end('RollbackFailed', 'RollbackFailed', failureOf(state).reason)
    default:
      return { step: RULES[state.step].next }
  }
}

function fail(state: AttemptState, code: EdgeCode, reason: string): Move {
  const { onFailure, stage } = RULES[state.step]
  if (stage === 'rollback') return { ...failBack(state, reason), wayBackFailed: true }
  if (onFailure === 'R5') return { step: 'R5', failure: { code, reason } }
  if (onFailure !== 'E11' || state.ending) return { step: onFailure }
  return end(REFUSALS.has(code) ? 'RefusedBeforeChange' : 'FailedBeforeChange', code, reason)
}

function failBack(state: AttemptState, reason: string): Move {
  if (state.step !== 'R10' && state.backFailures < MAX_BACK_FAILURES) return { step: 'R5' }
  const both = `${failureOf(state).reason}; rollback: ${reason}`
  if (RULES[state.step].onFailure === 'R10')
    return { step: 'R10', failure: { code: 'RollbackFailed', reason: both } }
  return end('RollbackFailed', 'RollbackFailed', both)
}

function resume(state: AttemptState, rebooted: boolean): Move {
  const rule = RULES[state.step]
  if (state.resumes >= MAX_RESUMES && rule.stage !== 'rest') {
    return fail(state, rule.code, `the updater died ${state.resumes} times in ${state.step}`)
  }
  const step = rebooted ? rule.resumeAfterReboot : rule.resume
  if (step === 'E8') return startNew(state)
  if (step === 'prepared') {
    return {
      step,
      refusal: { code: 'PermissionExpired', reason: 'the machine restarted before the agent was stopped' },
    }
  }
  if (step === 'R5' && state.step === 'E6') {
    return { step, failure: { code: 'StopFailed', reason: 'the machine restarted before the swap' } }
  }
  return { step }
}

/** Every way into E8 counts, so an agent that takes the machine down with it is started three times at most. */
function startNew(state: AttemptState): Move {
  if (state.starts < MAX_STARTS) return { step: 'E8' }
  return {
    step: 'R5',
    failure: { code: 'HealthFailed', reason: `the new agent was started ${MAX_STARTS} times` },
  }
}

function end(outcome: Outcome, code: EdgeCode, reason: string): Move {
  return { step: 'E11', ending: { outcome, code, reason } }
}

function failureOf(state: AttemptState): { code: EdgeCode; reason: string } {
  return state.failure ?? { code: 'RollbackFailed', reason: 'unknown' }
}
