import { randomUUID } from 'node:crypto'
import { constants, type Mode } from 'node:fs'
import { type FileHandle, link, mkdir, open, rename, rm, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** The errno name of what a file system call threw. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const FULL_DISK = new Set(['ENOSPC', 'EDQUOT'])

/** True when there was no room, or no more that this user may have. */
export function isFullDisk(error: unknown): boolean {
  return FULL_DISK.has(errnoOf(error) ?? '')
}

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Makes content and attributes of a file survive a power cut. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the folder and its parents; each new name survives a power cut. */
export async function makeFolder(path: string, mode: Mode = 0o700): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode })
  if (first === undefined) return
  for (let at = path; at.length >= first.length; at = dirname(at)) await syncFolder(dirname(at))
}

/** Creates a file that must not be there (links are not followed), lets `write` fill it, and fsyncs it. */
export async function createDurable<T>(
  path: string,
  mode: Mode,
  write: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await open(path, NEW_FILE, mode)
  try {
    const written = await write(file)
    await file.sync()
    return written
  } finally {
    await file.close()
  }
}

/** Replaces a file in one step: after a power cut the path has all of the old text or all of the new. */
export async function writeDurable(path: string, data: string, mode: Mode = 0o600): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    await createDurable(temporary, mode, (file) => file.writeFile(data))
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
  await syncFolder(dirname(path))
}

/** Creates a whole file under a free name by link(2): false when the name is taken. Two callers never both win. */
export async function createExclusive(path: string, data: string, mode: Mode = 0o600): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    await createDurable(temporary, mode, (file) => file.writeFile(data))
    await link(temporary, path)
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined)
  }
  try {
    await syncFolder(dirname(path))
    return true
  } catch (error) {
    // Who is told that it failed must not own the name.
    await rm(path, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Removes a file for good; one that is not there is fine. */
export async function removeDurable(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return
    throw error
  }
  await syncFolder(dirname(path))
}
