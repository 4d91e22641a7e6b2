import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { LIMITS } from '@upgrade-hub/protocol'
import type { EdgeConfig } from '../config.ts'
import { readJournal } from '../machine/journal.ts'
import { type Intent, NOTHING } from '../machine/state.ts'
import { isPastStop } from '../machine/steps.ts'
import { Inbox, orNothing } from './inbox.ts'
import { lostIntent } from './lost-intent.ts'
import { type AttemptPaths, attemptPaths, attemptsFolder, isAttemptId } from './paths.ts'
import type { Snapshot } from './view.ts'

/**
 * Reads an attempt; undefined when there is none. A journal that cannot be read counts as one that has just begun: the
 * updater that is started for it looks at the real state and says StateUnreadable.
 */
export async function loadAttempt(config: EdgeConfig, id: string): Promise<Snapshot | undefined> {
  const paths = attemptPaths(config, id)
  const intent = await loadIntent(config, id)
  if (!intent) return undefined
  const inbox = new Inbox(paths)
  const [permit, cancel, gate, journal] = await Promise.all([
    inbox.permit(),
    inbox.cancel(),
    inbox.gate(),
    orNothing(readJournal(paths.journal)),
  ])
  const logTail = journal?.ending ? await tail(paths.log).catch(() => '') : ''
  return {
    ...intent,
    state: journal ?? NOTHING,
    nodeName: config.nodeName,
    logTail,
    ...(permit ? { permit } : {}),
    ...(cancel ? { cancel } : {}),
    ...(gate ? { gate: gate.by } : {}),
  }
}

/**
 * What an attempt is to do: as edgehub wrote it, else as its journal tells it. An attempt that has a journal is never
 * forgotten, because it may have stopped the agent: when neither can be read it is one that only looks at what is there.
 */
export async function loadIntent(config: EdgeConfig, id: string): Promise<Intent | undefined> {
  const paths = attemptPaths(config, id)
  const stored = await new Inbox(paths).prepare()
  if (stored) return stored
  const journal = await orNothing(readJournal(paths.journal))
  return journal?.intent ?? ((await hasTrace(paths)) ? lostIntent(config, id) : undefined)
}

async function hasTrace(paths: AttemptPaths): Promise<boolean> {
  const names = await readdir(paths.folder).catch(() => [])
  const hasJournal = names.some((name) => name.startsWith(basename(paths.journal)))
  return hasJournal || (await new Inbox(paths).gate())?.by === 'stop'
}

/** The HistoryIDs of all attempts that have a folder. */
export async function attemptIds(config: EdgeConfig): Promise<readonly string[]> {
  const entries = await readdir(attemptsFolder(config), { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory() && isAttemptId(entry.name)).map(({ name }) => name)
}

/** Another attempt that has stopped the agent and is not through: nobody may begin before it is. */
export async function attemptUnderWay(config: EdgeConfig, except: string): Promise<string | undefined> {
  for (const id of await attemptIds(config)) {
    if (id === except) continue
    const state = await orNothing(readJournal(attemptPaths(config, id).journal))
    if (state && isPastStop(state.step)) return id
  }
  return undefined
}

/** The last whole lines of a log, as much as may travel with a result. A result without them is better than none. */
async function tail(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined)
  if (!file) return ''
  try {
    const { size } = await file.stat()
    const length = Math.min(size, LIMITS.maxLogTailBytes)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
    const text = buffer.toString('utf8', 0, bytesRead)
    return length < size ? text.slice(text.indexOf('\n') + 1) : text
  } finally {
    await file.close()
  }
}
