import { chmod, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { LockHeldError, StepError } from '../errors.ts'
import { makeFolder, syncFolder } from '../host/durable.ts'
import { copyDurable, fileFacts } from '../host/files.ts'
import type { Facts, StagedFile } from '../machine/state.ts'
import { probeFile } from '../probe.ts'
import { providerOf } from '../providers/table.ts'
import { attemptUnderWay } from '../store/load.ts'
import { stagingFolder } from '../store/paths.ts'
import { type Backup, findBackup } from './backup-catalog.ts'
import type { StepContext } from './context.ts'
import { checkElf } from './elf.ts'
import { resolveTarget } from './targets.ts'

const CONFIRM_POLL_MS = 250

/** E1: the node's lock; held by somebody else, the hub may ask again. */
export async function takeLock({ locks, config, prepare }: StepContext): Promise<undefined> {
  try {
    await locks.take()
  } catch (error) {
    if (error instanceof LockHeldError) throw new StepError('Busy', error.message, { cause: error })
    throw error
  }
  const other = await attemptUnderWay(config, prepare.HistoryID)
  if (other) throw new StepError('Busy', `attempt ${other} is under way`)
}

/** E3: the new files in the staging folder, verified: from the upgrade tool, or out of a backup when rolling back. */
export async function fetchFiles(context: StepContext): Promise<Facts> {
  const { prepare, config } = context
  const folder = stagingFolder(config, prepare.TaskUID, prepare.Attempt)
  await makeFolder(folder)
  const backup =
    prepare.Purpose === 'RollBack'
      ? await findBackup(config, context.component.name, prepare.Version)
      : undefined
  if (backup) {
    await rm(folder, { recursive: true, force: true })
    await makeFolder(folder)
    return { staged: await stageBackup(backup, folder) }
  }
  const provider = providerOf(prepare.UpgradeTool)
  if (!provider) throw new StepError('UnsupportedTool', `this release has no tool ${prepare.UpgradeTool}`)
  return provider.fetch(context, folder)
}

/** E4: executable, built for this host, and the version that was asked for. */
export async function stage({ component, prepare, config, state, signal }: StepContext): Promise<undefined> {
  const staged = state.facts.staged ?? []
  const binary = await resolveTarget(component.binary)
  const main = staged.find(({ target }) => target === binary)
  if (!main) throw new StepError('BadArchive', `${component.binary} was not fetched`)
  for (const { kind = 'program', staged: path } of staged) {
    if (kind !== 'program') continue
    await checkElf(path)
    await chmod(path, 0o755)
  }
  await syncFolder(stagingFolder(config, prepare.TaskUID, prepare.Attempt))
  const version = await probeFile(component, main.staged, signal)
  if (version !== prepare.Version) {
    throw new StepError(
      'VersionMismatch',
      `the new program says it is ${version || 'no version'}, not ${prepare.Version}`,
    )
  }
}

/** E4c: waits for a person; the lock is free meanwhile. */
export async function awaitConfirmation({
  clock,
  inbox,
  locks,
  signal,
  state,
}: StepContext): Promise<undefined> {
  await locks.drop()
  while ((await inbox.confirmed()) !== state.prepareSeq) await clock.sleep(CONFIRM_POLL_MS, signal)
}

async function stageBackup(backup: Backup, folder: string): Promise<readonly StagedFile[]> {
  const staged: StagedFile[] = []
  for (const file of backup.files) {
    if (file.copy === undefined) continue
    const path = join(folder, basename(file.copy))
    const { sha256, size } = await copyDurable(file.copy, path, 0o600)
    if (sha256 !== file.sha256)
      throw new StepError('DigestMismatch', `the backup of ${file.target} is damaged`)
    const { kind, target, mode, uid, gid } = file
    staged.push({ kind, target, staged: path, sha256, size, attributes: { mode, uid, gid } })
  }
  return staged
}

/** True while every staged file is what it was when it was verified. */
export async function stagedIsWhole(files: readonly StagedFile[]): Promise<boolean> {
  const facts = await Promise.all(files.map(({ staged }) => fileFacts(staged)))
  return files.length > 0 && files.every(({ sha256 }, at) => facts[at]?.sha256 === sha256)
}
