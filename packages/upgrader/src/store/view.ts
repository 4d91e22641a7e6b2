import {
  type Answer,
  type EdgeCode,
  LIMITS,
  type Prepare,
  type Progress,
  type Result,
  upgradeStatusOf,
} from '@upgrade-hub/protocol'
import type { ActionState, AttemptState } from '../machine/state.ts'
import { isPastStop } from '../machine/steps.ts'
import type { AttemptPhase, AttemptView } from '../types.ts'
import type { GateSide, StoredCancel, StoredPermit } from './inbox.ts'

/** Everything on disk about one attempt. */
export interface Snapshot {
  readonly prepare: Prepare
  /** Begun by hand: the hub knows nothing of it. */
  readonly local: boolean
  readonly isLost?: true
  readonly permit?: StoredPermit
  readonly cancel?: StoredCancel
  readonly gate?: GateSide
  readonly state: AttemptState
  readonly nodeName: string
  readonly logTail?: string
}

/** What the session says about an attempt: a pure function of what is on disk. */
export function viewOf(snapshot: Snapshot): AttemptView {
  const { prepare, state } = snapshot
  const result = resultOf(snapshot)
  return {
    id: prepare.HistoryID,
    upgradeID: prepare.UpgradeID,
    task: prepare.Task,
    taskUID: prepare.TaskUID,
    nodeUID: prepare.NodeUID,
    attempt: prepare.Attempt,
    step: state.step,
    phase: phaseOf(snapshot),
    answer: answerOf(snapshot),
    ...(result ? { result } : {}),
    lastSeq: state.lastSeq,
    actions: state.actions.map((action) => progressOf(prepare, state, action)),
    needsUpdater: needsUpdater(snapshot),
    pastStop: isPastStop(state.step) || snapshot.gate === 'stop',
  }
}

/** A permission that the updater has not looked at yet. */
export function hasNewPermit({ permit, state }: Pick<Snapshot, 'permit' | 'state'>): boolean {
  return permit !== undefined && permit.intentSeq > state.proceedSeq
}

/** An attempt that failed or was refused before anything was touched may be prepared anew. */
export function mayPrepareAgain(state: AttemptState): boolean {
  if (state.step !== 'ended') return true
  const outcome = state.ending?.outcome
  return outcome === 'RefusedBeforeChange' || outcome === 'FailedBeforeChange'
}

/** The newest intent is answered; the others were before. */
export function answerOf(snapshot: Snapshot): Answer {
  const { prepare, permit, cancel, state } = snapshot
  const newest = Math.max(prepare.IntentSeq, permit?.intentSeq ?? 0, cancel?.intentSeq ?? 0)
  if (cancel && cancel.intentSeq === newest) return answer(prepare, newest, cancel.value)
  if (permit && permit.intentSeq === newest) return proceedAnswer(prepare, permit, state)
  return prepareAnswer(prepare, state)
}

/** What ended it, as the hub stores it. The code and the status words are derived here and nowhere else. */
export function resultOf({ prepare, state, nodeName, logTail }: Snapshot): Result | undefined {
  const { ending, facts } = state
  if (!ending) return undefined
  const failed = ending.outcome !== 'Succeeded' && ending.outcome !== 'Cancelled'
  return {
    UpgradeID: prepare.UpgradeID,
    HistoryID: prepare.HistoryID,
    NodeName: nodeName,
    FromVersion: facts.fromVersion ?? '',
    ToVersion: prepare.Version,
    Status: upgradeStatusOf(ending.outcome),
    Reason: clip(ending.reason),
    Outcome: ending.outcome,
    Code: ending.code,
    FinishedAt: ending.at,
    RunningVersion: facts.runningVersion ?? '',
    TaskUID: prepare.TaskUID,
    ...(failed && logTail ? { LogTail: logTail } : {}),
  }
}

function phaseOf(snapshot: Snapshot): AttemptPhase {
  const { state } = snapshot
  if (state.step === 'ended')
    return snapshot.prepare.IntentSeq > state.prepareSeq && mayPrepareAgain(state) ? 'preparing' : 'ended'
  if (state.step === 'prepared') return hasNewPermit(snapshot) ? 'proceeding' : 'prepared'
  return state.proceedSeq > 0 && !isPreparing(state) ? 'proceeding' : 'preparing'
}

/** E0 to E4c: the agent runs and the node is in service. */
export function isPreparing(state: AttemptState): boolean {
  return ['E0', 'E1', 'E2', 'E3', 'E4', 'E4c'].includes(state.step)
}

function needsUpdater(snapshot: Snapshot): boolean {
  const { prepare, state, gate } = snapshot
  const again = prepare.IntentSeq > state.prepareSeq
  if (state.step === 'ended') return again && mayPrepareAgain(state) && gate !== 'cancel'
  if (state.step !== 'prepared') return true
  return again || gate === 'cancel' || hasNewPermit(snapshot)
}

function prepareAnswer(prepare: Prepare, state: AttemptState): Answer {
  const seq = prepare.IntentSeq
  if (state.prepareSeq !== seq) return answer(prepare, seq, 'accepted')
  if (state.ending) return answer(prepare, seq, 'refused', state.ending)
  if (state.step !== 'prepared' && isPreparing(state)) return answer(prepare, seq, 'accepted')
  const { indexDigest, fromVersion, platform } = state.facts
  return {
    ...answer(prepare, seq, 'prepared'),
    ...(indexDigest ? { IndexDigest: indexDigest } : {}),
    FromVersion: fromVersion ?? '',
    ...(platform ? { Platform: platform } : {}),
  }
}

function proceedAnswer(prepare: Prepare, permit: StoredPermit, state: AttemptState): Answer {
  const seq = permit.intentSeq
  if (state.proceedSeq !== seq) return answer(prepare, seq, 'accepted')
  if (state.ending) return answer(prepare, seq, 'done', state.ending)
  if (state.refusal) return answer(prepare, seq, 'refused', state.refusal)
  return answer(prepare, seq, 'accepted')
}

/** An answer about the attempt of a prepare. */
export function answer(
  of: Pick<Prepare, 'Task' | 'TaskUID' | 'Attempt'>,
  seq: number,
  value: Answer['Value'],
  why?: { readonly code: EdgeCode; readonly reason: string },
): Answer {
  const { Task, TaskUID, Attempt } = of
  const [Code, Reason] = [why?.code ?? '', clip(why?.reason ?? '')]
  return { Task, TaskUID, Attempt, IntentSeq: seq, Value: value, Code, Reason }
}

function progressOf(prepare: Prepare, state: AttemptState, action: ActionState): Progress {
  return {
    action: action.action,
    succ: action.succ,
    finishTime: action.at,
    reason: clip(action.reason),
    extend: `${state.facts.fromVersion ?? ''},${prepare.Version}`,
    Task: prepare.Task,
    TaskUID: prepare.TaskUID,
    Attempt: prepare.Attempt,
    Seq: action.seq,
    Step: action.step,
    Final: action.final,
  }
}

function clip(text: string): string {
  return text.slice(0, LIMITS.maxReasonChars)
}
