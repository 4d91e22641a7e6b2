import { messageOf, rfc3339 } from '@upgrade-hub/core'
import { componentOf, type EdgeConfig } from '../config.ts'
import { CancelledError, NotNowError, UnreadableError } from '../errors.ts'
import { bootId, monotonicMs } from '../host/boot.ts'
import { acquireLock } from '../host/lock.ts'
import { recordOf } from '../machine/fold.ts'
import { Journal, setAside } from '../machine/journal.ts'
import type { AttemptEvent, AttemptState } from '../machine/state.ts'
import { isPastStop, isRest, keepsAgentDown, RULES } from '../machine/steps.ts'
import { createService } from '../service/service.ts'
import type { Ports, StepContext } from '../steps/context.ts'
import { STEP_RUNS } from '../steps/table.ts'
import { Inbox } from '../store/inbox.ts'
import { attemptPaths, isAttemptId } from '../store/paths.ts'
import { failureOf } from './failure.ts'
import { inboxEvent } from './inbox-event.ts'
import { openNodeLock, takeLockAnyway } from './node-lock.ts'
import { stageSignal } from './stage-clock.ts'
import { probeAfterLoss } from './state-loss.ts'

type Base = Omit<StepContext, 'state' | 'signal'>

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
  const paths = attemptPaths(config, id)
  const owner = await acquireLock(paths.owner, id, ports)
  const locks = openNodeLock({ config, id, clock: ports.clock, log: ports.log })
  try {
    const base = await openContext({ config, id, ports }, locks)
    return await runToRest(base)
  } finally {
    await locks.drop()
    await owner.release()
  }
}

async function openContext({ config, id, ports }: RunOptions, locks: Base['locks']): Promise<Base> {
  const paths = attemptPaths(config, id)
  const inbox = new Inbox(paths)
  const stored = await inbox.prepare()
  if (!stored) throw new UnreadableError(paths.prepare, 'there is no such attempt')
  const component = componentOf(config, stored.prepare.Component)
  if (!component)
    throw new UnreadableError(paths.prepare, `this node has no component ${stored.prepare.Component}`)
  return {
    ...ports,
    ...stored,
    config,
    component,
    paths,
    inbox,
    locks,
    service: createService(component, ports.clock),
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

async function openJournal(base: Base): Promise<{ journal: Journal; lost?: AttemptEvent }> {
  try {
    return { journal: await Journal.open(base.paths.journal) }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    base.log.error({ err: error }, 'the journal cannot be read: keeping the agent that is there')
    const lost = await probeAfterLoss(base, error.message)
    await setAside(base.paths.journal, String(base.clock.now()))
    return { journal: await Journal.open(base.paths.journal), lost }
  }
}

function firstEvent(base: Base, state: AttemptState): Promise<AttemptEvent | undefined> {
  if (state.lastSeq > 0 && !isRest(state.step)) return Promise.resolve({ type: 'resumed' })
  return inboxEvent(base.inbox, state)
}

/** At rest nothing of the node is held, and a later cancel or proceed finds the gate open. */
async function restEvent(base: Base, state: AttemptState): Promise<AttemptEvent | undefined> {
  if (state.step === 'prepared') await base.inbox.releaseGate()
  await base.locks.drop()
  return inboxEvent(base.inbox, state)
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
    return eventOf(watched.signal.aborted ? watched.signal.reason : error, state)
  } finally {
    watched.end()
  }
}

function eventOf(error: unknown, state: AttemptState): AttemptEvent {
  if (error instanceof CancelledError) return { type: 'cancelled' }
  if (error instanceof NotNowError) return { type: 'refused', code: error.edgeCode, reason: messageOf(error) }
  return { type: 'failed', ...failureOf(error, state.step) }
}
