import { join } from 'node:path'
import type { AttemptEvent, BackupFile } from '../machine/state.ts'
import { probeVersion } from '../probe.ts'
import { type Backup, findBackup, isWhole, readBackup } from '../steps/backup-catalog.ts'
import { startAnyhow } from '../steps/start-anyhow.ts'
import { putBack } from '../steps/swap.ts'
import { backupsFolder } from '../store/paths.ts'
import type { Base } from './run-attempt.ts'

const POLL_MS = 100
const MIN_STABLE_MS = 1_000
const MAX_STABLE_MS = 10_000

/**
 * The journal is lost, so nothing is known but what is there: the agent that is installed is kept and started if it does
 * not run. One that does not stay alive was perhaps put there by this attempt: then its backup is put back.
 */
export async function seeToAgent(base: Base, reason: string): Promise<AttemptEvent> {
  const { log, inbox, prepare, local, isLost, component } = base
  if (!(await comesToLife(base))) {
    const backup = await backupOf(base)
    log.error({ backup: backup?.folder }, 'the agent that is installed does not live')
    if (backup) await restore(base, backup.files)
  }
  return {
    type: 'unreadable',
    reason,
    runningVersion: await probeVersion(component),
    prepareSeq: prepare.IntentSeq,
    proceedSeq: (await inbox.permit())?.intentSeq ?? 0,
    intent: { prepare, local, ...(isLost ? { isLost } : {}) },
  }
}

/** Started where it stands still, and watched: it lives when it runs on, without a restart, and says a version. */
async function comesToLife(base: Base): Promise<boolean> {
  const { service, clock, prepare, component } = base
  await startAnyhow(base)
  const stableMs = Math.min(MAX_STABLE_MS, Math.max(MIN_STABLE_MS, prepare.Health.minReadySeconds * 1000))
  const first = await service.state()
  const since = clock.monotonic()
  while (clock.monotonic() - since < stableMs) {
    await clock.sleep(POLL_MS)
    const now = await service.state()
    if (!now.running || now.identity !== first.identity) return false
  }
  return (await probeVersion(component)) !== ''
}

async function backupOf({ config, component, prepare }: Base): Promise<Backup | undefined> {
  const own = await readBackup(join(backupsFolder(config), `${prepare.TaskUID}.${prepare.Attempt}`))
  if (own?.component === component.name && (await isWhole(own.files))) return own
  return findBackup(config, component.name)
}

async function restore(base: Base, files: readonly BackupFile[]): Promise<void> {
  const { service, log } = base
  try {
    await service.stop()
    for (const file of files) await putBack(file)
  } catch (error) {
    log.error({ err: error }, 'the backup could not be put back')
  }
  await startAnyhow(base)
}
