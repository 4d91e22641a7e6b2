import { chmod, chown, stat } from 'node:fs/promises'
import { CommandError } from '../errors.ts'
import { run, systemProgram } from '../host/command.ts'
import { errnoOf, syncFile } from '../host/durable.ts'

const CP_TIMEOUT_MS = 10_000

/**
 * Gives a file the mode, owner and extended attributes (capabilities, labels) of another, fsynced. The extended ones need
 * `cp` of coreutils, because Node has no call for them. @throws CommandError where there is none
 */
export async function copyAttributes(from: string, to: string): Promise<void> {
  const cp = await systemProgram('cp')
  if (!cp) throw new CommandError('cp', 'this host has none, and extended attributes would be lost')
  await run(cp, ['--attributes-only', '--preserve=all', '--', from, to], { timeoutMs: CP_TIMEOUT_MS })
  const { mode, uid, gid } = await stat(from)
  await setAttributes(to, { mode: mode & 0o7777, uid, gid })
}

/** Sets owner and mode, in this order: a change of the owner clears the setuid bit. */
export async function setAttributes(
  path: string,
  { mode, uid, gid }: { readonly mode: number; readonly uid: number; readonly gid: number },
): Promise<void> {
  await chown(path, uid, gid).catch((error: unknown) => {
    if (errnoOf(error) !== 'EPERM') throw error
  })
  await chmod(path, mode)
  await syncFile(path)
}
