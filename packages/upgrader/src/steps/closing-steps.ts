import { rm } from 'node:fs/promises'
import type { Facts } from '../machine/state.ts'
import { openSpool } from '../spool.ts'
import { loadAttempt } from '../store/load.ts'
import { stagingFolder } from '../store/paths.ts'
import { resultOf } from '../store/view.ts'
import { pruneBackups } from './backup-catalog.ts'
import type { StepContext } from './context.ts'
import { temporaryOf } from './swap.ts'

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
  try {
    await spool.put(result)
  } catch (error) {
    log.warn({ err: error }, 'no room for the result: clearing the staged files first')
    await clearStaging(context)
    await spool.put(result)
  }
  await context.at('E11.spooled')
  const outcome = await context.post(result)
  log.info({ attempt: prepare.HistoryID, outcome }, 'posted the result')
  if (outcome.kind === 'stored') await spool.remove(prepare.HistoryID)
  if (outcome.kind === 'rejected')
    await spool.reject(prepare.HistoryID, `HTTP ${outcome.status} ${outcome.why}`)
}

/** E12 */
export async function cleanUp(context: StepContext): Promise<Facts | undefined> {
  const { config, component, paths, service, state, clock } = context
  await clearStaging(context)
  const targets = [component.binary, ...component.companions, component.state.config, component.state.db]
  for (const target of targets) if (target !== undefined) await rm(temporaryOf(target), { force: true })
  await rm(paths.download, { force: true })
  if (state.proceedSeq > 0) await service.release()
  await pruneBackups(config, component.name, clock.now())
  return undefined
}

async function clearStaging({ config, prepare }: StepContext): Promise<void> {
  await rm(stagingFolder(config, prepare.TaskUID, prepare.Attempt), { recursive: true, force: true })
}

function mustReport({ state }: StepContext): boolean {
  return state.proceedSeq > 0 || state.ending?.outcome === 'StateUnreadable'
}
