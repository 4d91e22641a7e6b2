import { rm } from 'node:fs/promises'
import type { Result } from '@upgrade-hub/protocol'
import { dropReserve } from '../machine/journal.ts'
import type { Facts } from '../machine/state.ts'
import { openSpool } from '../spool.ts'
import { loadAttempt } from '../store/load.ts'
import { stagingFolder } from '../store/paths.ts'
import { resultOf } from '../store/view.ts'
import type { Spool } from '../types.ts'
import { pruneBackups } from './backup-catalog.ts'
import type { StepContext } from './context.ts'
import { releaseAnyhow } from './proceed-steps.ts'
import { clearBeside, temporaryOf } from './swap.ts'
import { resolveTarget } from './targets.ts'

/**
 * E11: the result is in the spool before it is posted and leaves it only on a final answer, so it cannot be lost. What
 * ended before a `proceed` is told by the answer to `prepare`; what was begun by hand has no hub that waits.
 */
export async function report(context: StepContext): Promise<undefined> {
  const { config, prepare, local, state, log } = context
  const found = await loadAttempt(config, prepare.HistoryID)
  const result = found && resultOf({ ...found, state })
  if (!result || local || !mustReport(context)) return
  const spool = openSpool(config, context.clock)
  const problem = await putDown(context, spool, result)
  await context.at('E11.spooled')
  const outcome = await context.post(result)
  log.info({ attempt: prepare.HistoryID, outcome }, 'posted the result')
  if (outcome.kind === 'retry' && problem) throw problem
  if (outcome.kind === 'stored') await spool.remove(prepare.HistoryID)
  if (outcome.kind === 'rejected')
    await spool.reject(prepare.HistoryID, `HTTP ${outcome.status} ${outcome.why}`)
}

/** Why the result could not be put into the spool; undefined when it is there. */
async function putDown(context: StepContext, spool: Spool, result: Result): Promise<Error | undefined> {
  try {
    await spool.put(result)
  } catch (error) {
    context.log.warn({ err: error }, 'no room for the result: clearing the staged files first')
    await clearStaging(context).catch(() => undefined)
    return spool.put(result).then(
      () => undefined,
      (again: unknown) => (again instanceof Error ? again : new Error(String(again))),
    )
  }
  return undefined
}

/** E12 */
export async function cleanUp(context: StepContext): Promise<Facts | undefined> {
  const { config, component, paths, state, clock } = context
  if (state.proceedSeq > 0) await releaseAnyhow(context)
  const kept = state.ending?.outcome === 'RollbackFailed'
  // What the way back could not use is left for a person.
  const beside = kept ? (target: string) => rm(temporaryOf(target), { force: true }) : clearBeside
  const targets = await touchedTargets(context)
  const done = await Promise.allSettled([
    clearStaging(context),
    ...targets.map(beside),
    rm(paths.download, { force: true }),
    pruneBackups(config, component.name, clock.now()),
    dropReserve(paths.journal),
  ])
  const failed = done.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
  return undefined
}

async function touchedTargets({ component, state }: StepContext): Promise<readonly string[]> {
  const { binary, companions } = component
  const paths = [binary, ...companions, component.state.config, component.state.db]
  const now = await Promise.all(paths.filter((path) => path !== undefined).map(resolveTarget))
  return [...new Set([...now, ...(state.facts.staged ?? []).map(({ target }) => target)])]
}

async function clearStaging({ config, prepare }: StepContext): Promise<void> {
  await rm(stagingFolder(config, prepare.TaskUID, prepare.Attempt), { recursive: true, force: true })
}

function mustReport({ state }: StepContext): boolean {
  return state.proceedSeq > 0 || state.ending?.outcome === 'StateUnreadable'
}
