import { StepError } from '../errors.ts'
import { fileFacts } from '../host/files.ts'
import type { BackupFile, Facts } from '../machine/state.ts'
import type { StepContext } from './context.ts'
import { proveOld } from './health.ts'
import { releaseAnyhow, stopAgent } from './proceed-steps.ts'
import { startAnyhow } from './start-anyhow.ts'
import { canPutBack, putBack } from './swap.ts'

/** R5: every file that has to be put back has a whole copy. */
export async function checkBackup({ state }: StepContext): Promise<undefined> {
  for (const file of await toPutBack(state)) {
    if (!(await canPutBack(file)))
      throw new StepError('RollbackFailed', `the backup of ${file.target} is damaged or gone`)
  }
}

/** R6: nothing to put back and the old agent runs: then it is left alone. */
export async function stopForRollback(context: StepContext): Promise<undefined> {
  const untouched = (await toPutBack(context.state)).length === 0
  if (untouched && context.state.starts === 0 && (await context.service.state()).running) return
  await stopAgent(context)
}

/** R7 */
export async function putFilesBack(context: StepContext): Promise<undefined> {
  for (const file of await toPutBack(context.state)) {
    await context.at('R7.file')
    await putBack(file)
  }
}

/** R8 */
export async function startOld({ service }: StepContext): Promise<undefined> {
  await service.start()
}

/** R9 */
export async function proveOldAndRelease(context: StepContext): Promise<Facts> {
  const facts = await proveOld(context)
  await releaseAnyhow(context)
  return facts
}

/** R10: the way back is broken; whatever whole program is there had better run. */
export async function startWhatIsThere(context: StepContext): Promise<undefined> {
  await startAnyhow(context)
}

/** A database is put back only when the new agent may have changed it, or another was put in its place. */
async function toPutBack(state: StepContext['state']): Promise<readonly BackupFile[]> {
  const replaced = state.swapBegan && (state.facts.staged ?? []).some(({ kind }) => kind === 'db')
  const dbChanged = state.starts > 0 || replaced
  const files = (state.facts.backup ?? []).filter(({ kind }) => kind !== 'db' || dbChanged)
  const facts = await Promise.all(files.map(({ target }) => fileFacts(target)))
  return files.filter(({ sha256 }, at) => (facts[at]?.sha256 ?? '') !== sha256)
}
