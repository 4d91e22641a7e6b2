import { link, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { StepError } from '../errors.ts'
import { removeDurable, syncFolder } from '../host/durable.ts'
import { copyDurable, fileFacts, isRegularFile } from '../host/files.ts'
import type { BackupFile, StagedFile } from '../machine/state.ts'
import { copyAttributes, setAttributes } from './attributes.ts'
import { dropDatabaseJournals } from './database.ts'

/** The temporary file beside a target: a fixed name, so that what a crash leaves is found. */
export function temporaryOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.upgrade-hub`)
}

/** The old file, kept beside its successor as a second name of the same file: the way back then needs no space. */
export function keptOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.upgrade-hub-old`)
}

/** Removes what a swap leaves beside its target. */
export async function clearBeside(target: string): Promise<void> {
  await rm(temporaryOf(target), { force: true })
  await rm(keptOf(target), { force: true })
}

/** Makes the new file ready beside its target, so that all that needs space is done while the agent still runs. */
export async function placeBeside(file: StagedFile): Promise<void> {
  const { target, staged, sha256 } = file
  if (await isFile(target, sha256)) return
  await writeBeside(target, staged, sha256, (temporary) => dress(file, temporary))
}

/**
 * Puts a verified file in place in one step: at every instant, also after a power cut, the target is the whole old file
 * or the whole new one. It keeps mode, owner and extended attributes. Done already, it does nothing.
 * @throws StepError DigestMismatch when the staged file is not what was verified
 */
export async function swapIn(file: StagedFile): Promise<void> {
  const { target, sha256, kind } = file
  if (await isFile(target, sha256)) return
  if (!(await isFile(temporaryOf(target), sha256))) await placeBeside(file)
  await keepOld(target)
  if (kind === 'db') await dropDatabaseJournals(target)
  await moveIn(temporaryOf(target), target, sha256)
}

/** Puts a backed-up file back the same way, or removes what did not exist. Done already, it does nothing. */
export async function putBack(file: BackupFile): Promise<void> {
  const { target, copy, sha256, kind } = file
  if (copy === undefined) return removeDurable(target)
  if (kind === 'db') await dropDatabaseJournals(target)
  if (await isFile(target, sha256)) return
  if (await isFile(keptOf(target), sha256)) return moveIn(keptOf(target), target, sha256)
  await writeBeside(target, copy, sha256, async (temporary) => {
    // An agent without its extended attributes is better than none.
    await copyAttributes(copy, temporary).catch(() => undefined)
    await setAttributes(temporary, file)
  })
  await moveIn(temporaryOf(target), target, sha256)
}

/** True when there is a whole copy to put back, or nothing is to be put back. */
export async function canPutBack({ target, copy, sha256 }: BackupFile): Promise<boolean> {
  if (copy === undefined || (await isFile(copy, sha256))) return true
  return isFile(keptOf(target), sha256)
}

async function isFile(path: string, sha256: string): Promise<boolean> {
  return (await fileFacts(path))?.sha256 === sha256
}

async function dress({ target, kind, attributes }: StagedFile, temporary: string): Promise<void> {
  if (await isRegularFile(target)) return copyAttributes(target, temporary)
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const mode = kind === 'config' || kind === 'db' ? 0o600 : 0o755
  await setAttributes(temporary, attributes ?? { mode, uid, gid })
}

async function writeBeside(
  target: string,
  source: string,
  sha256: string,
  dressUp: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = temporaryOf(target)
  await rm(temporary, { force: true })
  try {
    const copied = await copyDurable(source, temporary, 0o600)
    if (copied.sha256 !== sha256)
      throw new StepError('DigestMismatch', `${source} is not the file that was verified`)
    await dressUp(temporary)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Some file systems know no second names; then the backup is the only way back. */
async function keepOld(target: string): Promise<void> {
  try {
    await rm(keptOf(target), { force: true })
    await link(target, keptOf(target))
  } catch {
    return
  }
}

/** The file was hashed as it was written or found; once more where it now is, before anybody starts it. */
async function moveIn(source: string, target: string, sha256: string): Promise<void> {
  await rename(source, target)
  await syncFolder(dirname(target))
  if (!(await isFile(target, sha256))) throw new StepError('SwapFailed', `${target} changed after the swap`)
}
