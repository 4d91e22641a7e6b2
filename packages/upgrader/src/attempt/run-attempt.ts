import { messageOf, rfc3339 } from '@upgrade-hub/core'
import { componentOf, type EdgeConfig } from '../config.ts'
import { CancelledError, LockHeldError, NotNowError, UnreadableError } from '../errors.ts'
import { bootId, monotonicMs } from '../host/boot.ts'
import { errnoOf } from '../host/durable.ts'
import { acquireLock } from '../host/lock.ts'
import { recordOf } from '../machine/fold.ts'
import { type Journal, readJournal } from '../machine/journal.ts'
import type { AttemptEvent, AttemptState } from '../machine/state.ts'
import { isPastStop, isRest, keepsAgentDown, RULES } from '../machine/steps.ts'
import type { Ports, StepContext } from '../steps/context.ts'
import { startAnyhow } from '../steps/start-anyhow.ts'
import { STEP_RUNS } from '../steps/table.ts'
import { Inbox } from '../store/inbox.ts'
import { loadIntent } from '../store/load.ts'
import { attemptPaths, isAttemptId } from '../store/paths.ts'
import { failureOf } from './failure.ts'
import { inboxEvent } from './inbox-event.ts'
import { openNodeLock, takeLockAnyway } from './node-lock.ts'
import { openJournal } from './open-journal.ts'
import { stageSignal } from './stage-clock.ts'

/** This process, not the step, has come to an end of something. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])

/** What all steps of one updater share. */
export type Base = Omit<StepContext, 'state' | 'signal'>

export interface RunOptions {
  readonly config: EdgeConfig
  /** HistoryID of an attempt that the store has accepted. */
  readonly id: string
  readonly ports: Ports
}

/**
 * Carries an attempt on from what its journal says until it rests (`prepared` or `ended`): first run, resume after a
 * crash or a reboot, rollback and report are the same loop.
 * @throws LockHeldError when another updater has this attempt
 * @throws UnreadableError when there is no such attempt
 */
export async function runAttempt({ config, id, ports }: RunOptions): Promise<AttemptState> {
  if (!isAttemptId(id)) throw new UnreadableError('the attempt', 'it is no HistoryID')
  const locks = openNodeLock({ config, id, clock: ports.clock, log: ports.log })
  const base = await openContext({ config, id, ports }, locks)
  try {
    return await ownAttempt(base)
  } catch (error) {
    // Who lost to another updater leaves everything to it.
    if (!(error instanceof LockHeldError)) await leaveAgentRunning(base)
    throw error
  }
}

async function ownAttempt(base: Base): Promise<AttemptState> {
  const owner = await acquireLock(base.paths.owner, base.prepare.HistoryID, base)
  try {
    return await runToRest(base)
  } finally {
    await base.locks.drop().catch((error: unknown) => base.log.warn({ err: error }, 'the lock stays behind'))
    await owner.release()
  }
}

async function openContext({ config, id, ports }: RunOptions, locks: Base['locks']): Promise<Base> {
  const paths = attemptPaths(config, id)
  const intent = await loadIntent(config, id)
  if (!intent) throw new UnreadableError(paths.prepare, 'there is no such attempt')
  const component = componentOf(config, intent.prepare.Component)
  if (!component)
    throw new UnreadableError(paths.prepare, `this node has no component ${intent.prepare.Component}`)
  return {
    ...ports,
    ...intent,
    config,
    component,
    paths,
    inbox: new Inbox(paths),
    locks,
    service: ports.service(component),
  }
}

async function runToRest(base: Base): Promise<AttemptState> {
  const { journal, lost } = await openJournal(base)
  try {
    let event = lost ?? (await firstEvent(base, journal.state))
    while (event) {
      const state = await append(base, journal, event)
      event = isRest(state.step) ? await restEvent(base, state) : await perform(base, state)
    }
    return journal.state
  } finally {
    await journal.close()
  }
}

/** We can write no more, so the next updater has to go on; until it comes the node had better have an agent. */
async function leaveAgentRunning(base: Base): Promise<void> {
  const { service, log } = base
  const isRunning = await service.state().then(
    ({ running }) => running,
    () => false,
  )
  if (isRunning || !(await mayBeStopped(base))) return
  log.error({}, 'this updater cannot go on: starting the agent that is there')
  await startAnyhow(base)
}

async function mayBeStopped({ inbox, paths }: Base): Promise<boolean> {
  try {
    const [gate, state] = await Promise.all([inbox.gate(), readJournal(paths.journal)])
    return gate?.by === 'stop' || (state !== undefined && isPastStop(state.step))
  } catch {
    return true
  }
}

async function firstEvent(base: Base, state: AttemptState): Promise<AttemptEvent | undefined> {
  if (state.lastSeq > 0 && !isRest(state.step)) return { type: 'resumed' }
  return restEvent(base, state)
}

/** At rest nothing of the node is held, and a later cancel or proceed finds the gate open. */
async function restEvent(base: Base, state: AttemptState): Promise<AttemptEvent | undefined> {
  if (state.lastSeq > 0) await base.inbox.releaseGate()
  await base.locks.drop()
  return inboxEvent(base.inbox, state, base)
}

async function append(base: Base, journal: Journal, event: AttemptEvent): Promise<AttemptState> {
  const moment = { at: rfc3339(base.clock.now()), boot: await bootId(), mono: monotonicMs() }
  const state = await journal.append(recordOf(journal.state, event, moment))
  const why =
    event.type === 'failed' || event.type === 'refused' ? { code: event.code, reason: event.reason } : {}
  base.log.info(
    { attempt: base.prepare.HistoryID, seq: state.lastSeq, event: event.type, ...why },
    `at ${state.step}`,
  )
  return state
}

async function perform(base: Base, state: AttemptState): Promise<AttemptEvent> {
  if (!keepsAgentDown(state.step)) await base.agentMayRun?.()
  const watched = stageSignal(state, base.prepare.Timeouts, base)
  try {
    if (isPastStop(state.step)) await takeLockAnyway(base.locks, base)
    await base.at(`${state.step}.before`)
    if (RULES[state.step].stage !== 'rollback') watched.signal.throwIfAborted()
    const facts = await STEP_RUNS[state.step]({ ...base, state, signal: watched.signal })
    await base.at(`${state.step}.after`)
    return { type: 'ok', ...(facts ? { facts } : {}) }
  } catch (error) {
    if (isForNextUpdater(error, state)) throw error
    return eventOf(watched.signal.aborted ? watched.signal.reason : error, state)
  } finally {
    watched.end()
  }
}

/** What a new process may do better, and a result that could not be put down: that must not be lost. */
function isForNextUpdater(error: unknown, state: AttemptState): boolean {
  const errno = errnoOf(error)
  return errno !== undefined && (state.step === 'E11' || EXHAUSTED.has(errno))
}

function eventOf(error: unknown, state: AttemptState): AttemptEvent {
  if (error instanceof CancelledError) return { type: 'cancelled' }
  if (error instanceof NotNowError) return { type: 'refused', code: error.edgeCode, reason: messageOf(error) }
  return { type: 'failed', ...failureOf(error, state.step) }
}
