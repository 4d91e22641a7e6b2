import { InvariantError } from '@upgrade-hub/core'
import type { Action } from '@upgrade-hub/protocol'
import type { ActionState, AttemptEvent, AttemptState, Facts, JournalRecord } from './state.ts'
import { NOTHING } from './state.ts'
import { RULES, type Stage } from './steps.ts'
import { type Move, transition } from './transition.ts'

/** When and in which boot something happens. */
export interface Moment {
  readonly at: string
  readonly boot: string
  readonly mono: number
}

/** The record that an event makes of a state. It must be on disk before its step begins. */
export function recordOf(state: AttemptState, event: AttemptEvent, moment: Moment): JournalRecord {
  const { step } = transition(state, event, state.boot !== moment.boot)
  return { v: 1, seq: state.lastSeq + 1, ...moment, event, step }
}

/** The state after a record. @throws InvariantError when the record does not follow from the state by the rules */
export function apply(state: AttemptState, record: JournalRecord): AttemptState {
  const { event } = record
  const move = transition(state, event, state.boot !== record.boot)
  if (record.seq !== state.lastSeq + 1)
    throw new InvariantError(`record ${record.seq} after ${state.lastSeq}`)
  if (move.step !== record.step)
    throw new InvariantError(`record ${record.seq} leads to ${record.step}, not ${move.step}`)
  return {
    ...base(state, event),
    step: move.step,
    lastSeq: record.seq,
    boot: record.boot,
    mono: record.mono,
    facts: factsAfter(state, event),
    swapBegan: swapBeganAfter(state, event, move),
    starts: state.starts + (move.step === 'E8' ? 1 : 0),
    backFailures: state.backFailures + (move.wayBackFailed ? 1 : 0),
    resumes: resumesAfter(state, event, move),
    spentMs: spentAfter(state, record),
    actions: actionsAfter(state, record, move),
    ...endingAfter(state, record, move),
  }
}

/** The state that a whole journal tells. */
export function fold(records: readonly JournalRecord[]): AttemptState {
  return records.reduce(apply, NOTHING)
}

/** What of the old state lives on; a new prepare begins from nothing but the numbers. */
function base(state: AttemptState, event: AttemptEvent): AttemptState {
  switch (event.type) {
    case 'accepted':
      return {
        ...NOTHING,
        prepareSeq: event.intentSeq,
        confirm: event.confirm,
        proceedSeq: state.proceedSeq,
        ...(event.intent ? { intent: event.intent } : {}),
      }
    case 'proceed': {
      const { refusal: _, ...rest } = state
      return { ...rest, proceedSeq: event.intentSeq, resumes: 0 }
    }
    case 'unreadable':
      return {
        ...state,
        prepareSeq: event.prepareSeq,
        proceedSeq: event.proceedSeq,
        ...(event.intent ? { intent: event.intent } : {}),
      }
    default:
      return state
  }
}

function swapBeganAfter(state: AttemptState, event: AttemptEvent, move: Move): boolean {
  return event.type !== 'accepted' && (state.swapBegan || move.step === 'E7')
}

/** Each of the three ways (prepare, proceed, back) has its own count, and each beginning of the way back. */
function resumesAfter(state: AttemptState, event: AttemptEvent, move: Move): number {
  const beginsBack = move.step === 'R5' && (state.step !== 'R5' || move.wayBackFailed)
  if (event.type === 'accepted' || event.type === 'proceed' || beginsBack) return 0
  return state.resumes + (event.type === 'resumed' ? 1 : 0)
}

function factsAfter(state: AttemptState, event: AttemptEvent): Facts {
  if (event.type === 'accepted') return {}
  if (event.type === 'ok') return { ...state.facts, ...event.facts }
  if (event.type === 'unreadable') return { ...state.facts, runningVersion: event.runningVersion }
  return state.facts
}

function endingAfter(state: AttemptState, record: JournalRecord, move: Move): Partial<AttemptState> {
  if (record.event.type === 'accepted') return {}
  const failure = move.failure ?? state.failure
  const ending = move.ending ? { ...move.ending, at: record.at } : state.ending
  const refusal = move.refusal ? { refusal: move.refusal } : {}
  return { ...refusal, ...(failure ? { failure } : {}), ...(ending ? { ending } : {}) }
}

/** Time passes for the stage that the record ends; what passed between two boots cannot be known and is not counted. */
function spentAfter(state: AttemptState, record: JournalRecord): AttemptState['spentMs'] {
  if (record.event.type === 'accepted') return {}
  const stage: Stage = RULES[state.step].stage
  if (record.event.type === 'proceed') return { ...state.spentMs, upgrade: 0 }
  if (stage === 'rest' || state.boot !== record.boot) return state.spentMs
  return { ...state.spentMs, [stage]: (state.spentMs[stage] ?? 0) + Math.max(0, record.mono - state.mono) }
}

function actionsAfter(state: AttemptState, record: JournalRecord, move: Move): readonly ActionState[] {
  if (record.event.type === 'accepted') return [running('Check', record)]
  const was = RULES[state.step].action
  const is = RULES[move.step].action
  const kept = state.actions.filter(({ action }) => action !== was && action !== is)
  const left = was === undefined ? [] : [closed(was, state, record, was === is)]
  return [...kept, ...left, ...(is === undefined || is === was ? [] : [running(is, record)])]
}

function running(action: Action, record: JournalRecord): ActionState {
  return { action, step: record.step, seq: record.seq, at: record.at, final: false, succ: true, reason: '' }
}

function closed(action: Action, state: AttemptState, record: JournalRecord, still: boolean): ActionState {
  const { event } = record
  const bad = event.type === 'failed' || event.type === 'refused' ? event.reason : undefined
  const { seq, at } = record
  const step = still ? record.step : state.step
  return { action, step, seq, at, final: !still, succ: bad === undefined, reason: bad ?? '' }
}
