import { lstat, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { StepError } from '../errors.ts'
import { removeDurable, syncFolder } from '../host/durable.ts'
import { copyDurable, fileFacts } from '../host/files.ts'
import type { BackupFile, StagedFile } from '../machine/state.ts'
import { copyAttributes, setAttributes } from './attributes.ts'
import { dropDatabaseJournals } from './database.ts'

/** The temporary file beside a target: a fixed name, so that what a crash leaves is found. */
export function temporaryOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.upgrade-hub`)
}

/**
 * Puts a verified file in place in one step: at every instant, also after a power cut, the target is the whole old file
 * or the whole new one. It keeps mode, owner and extended attributes. Done already, it does nothing.
 * @throws StepError DigestMismatch when the staged file is not what was verified
 */
export async function swapIn({ target, staged, sha256 }: StagedFile): Promise<void> {
  if ((await fileFacts(target))?.sha256 === sha256) return
  await replace(target, staged, sha256, async (temporary) => {
    const exists = await lstat(target).then(
      () => true,
      () => false,
    )
    if (exists) await copyAttributes(target, temporary)
    else
      await setAttributes(temporary, {
        mode: 0o755,
        uid: process.getuid?.() ?? 0,
        gid: process.getgid?.() ?? 0,
      })
  })
}

/** Puts a backed-up file back the same way, or removes what did not exist. Done already, it does nothing. */
export async function putBack(file: BackupFile): Promise<void> {
  const { target, copy, sha256, kind } = file
  if (copy === undefined) return removeDurable(target)
  if (kind === 'db') await dropDatabaseJournals(target)
  if ((await fileFacts(target))?.sha256 === sha256) return
  await replace(target, copy, sha256, async (temporary) => {
    await copyAttributes(copy, temporary)
    await setAttributes(temporary, file)
  })
}

async function replace(
  target: string,
  source: string,
  sha256: string,
  dress: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = temporaryOf(target)
  await rm(temporary, { force: true })
  try {
    const copied = await copyDurable(source, temporary, 0o600)
    if (copied.sha256 !== sha256)
      throw new StepError('DigestMismatch', `${source} is not the file that was verified`)
    await dress(temporary)
    await rename(temporary, target)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(target))
  if ((await fileFacts(target))?.sha256 !== sha256)
    throw new StepError('SwapFailed', `${target} changed after the swap`)
}
