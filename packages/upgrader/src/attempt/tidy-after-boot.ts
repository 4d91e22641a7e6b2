import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { EdgeConfig } from '../config.ts'
import { bootId } from '../host/boot.ts'
import { makeFolder, writeDurable } from '../host/durable.ts'
import { removeDead } from '../host/lock.ts'
import { readText } from '../host/read.ts'
import { attemptIds } from '../store/load.ts'
import { attemptPaths, backupsFolder, nodeLock, spoolFolder } from '../store/paths.ts'

/** What is written under a random name beside a file before it gets its own, and a backup before it is whole. */
const HALF_MADE = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.(tmp|dead)$|\.\d+\.partial$/

/**
 * Removes what a power cut left half-made, and the lock that nobody holds any more but that keadm would respect. It does
 * so once a boot and must be the first of ours to run in it: later these names belong to somebody who is at work.
 */
export async function tidyAfterBoot(config: EdgeConfig): Promise<void> {
  const mark = join(config.paths.state, 'tidied')
  const boot = await bootId()
  if ((await readText(mark)) === boot) return
  await removeDead(nodeLock(config))
  const ids = await attemptIds(config)
  const folders = [
    config.paths.etc,
    config.paths.state,
    backupsFolder(config),
    spoolFolder(config),
    ...ids.map((id) => attemptPaths(config, id).folder),
  ]
  for (const folder of folders) await removeHalfMade(folder)
  await makeFolder(config.paths.state)
  await writeDurable(mark, boot)
}

async function removeHalfMade(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names.filter((name) => HALF_MADE.test(name))) {
    await rm(join(folder, name), { recursive: true, force: true })
  }
}
