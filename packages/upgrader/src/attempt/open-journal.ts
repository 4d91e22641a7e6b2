import { UnreadableError } from '../errors.ts'
import { bootId } from '../host/boot.ts'
import { Journal, setAside } from '../machine/journal.ts'
import type { AttemptEvent, AttemptState } from '../machine/state.ts'
import { takeLockAnyway } from './node-lock.ts'
import type { Base } from './run-attempt.ts'
import { seeToAgent } from './state-loss.ts'

/** A journal that is open for writing, and the event that says so when its story was lost. */
export interface OpenedJournal {
  readonly journal: Journal
  readonly lost?: AttemptEvent
}

/** Opens the journal; one that cannot be read, or that has lost records, is set aside and the agent is seen to. */
export async function openJournal(base: Base): Promise<OpenedJournal> {
  try {
    const journal = await Journal.open(base.paths.journal)
    const loss = await lossOf(base, journal.state)
    if (loss === undefined) return { journal }
    await journal.close()
    return await beginAnew(base, loss)
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error
    return beginAnew(base, error.message)
  }
}

/** The gate before the stop remembers how long the journal was. That no agent runs means nothing after a boot. */
async function lossOf({ inbox, service, isLost }: Base, state: AttemptState): Promise<string | undefined> {
  if (isLost && !state.intent) return 'neither the intent nor the journal can be read'
  const gate = await inbox.gate()
  if (gate?.by !== 'stop') return undefined
  if (state.lastSeq < gate.seq) return `the journal has ${state.lastSeq} records and had ${gate.seq}`
  if (state.step !== 'E5' || state.boot !== (await bootId())) return undefined
  if ((await service.state()).running) return undefined
  return 'the journal ends before the stop, and the agent does not run'
}

async function beginAnew(base: Base, reason: string): Promise<OpenedJournal> {
  base.log.error({ reason }, 'the journal is lost: keeping an agent that runs')
  await takeLockAnyway(base.locks, base)
  const lost = await seeToAgent(base, reason)
  await setAside(base.paths.journal, String(base.clock.now()))
  return { journal: await Journal.open(base.paths.journal), lost }
}
