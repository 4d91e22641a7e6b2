import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { createDurable, errnoOf } from './durable.ts'

const CHUNK_BYTES = 256 * 1024

/** Content and attributes of one file. */
export interface FileFacts {
  readonly sha256: string
  readonly size: number
  /** Permission bits only. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/** Reads a regular file to its last byte; undefined when there is none. Links are not followed. */
export async function fileFacts(path: string): Promise<FileFacts | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    return await factsOf(file)
  } finally {
    await file.close()
  }
}

/** The same of an open file, so that what was hashed is what is used. */
async function factsOf(file: FileHandle): Promise<FileFacts> {
  const { mode, uid, gid } = await file.stat()
  const { sha256, size } = await drain(file, undefined)
  return { sha256, size, mode: mode & 0o7777, uid, gid }
}

/** Copies a regular file to a new path, fsynced. @returns what was written, read from the source while copying */
export async function copyDurable(from: string, to: string, mode: number): Promise<FileFacts> {
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { mode: sourceMode, uid, gid } = await source.stat()
    const { sha256, size } = await createDurable(to, mode, (target) => drain(source, target))
    return { sha256, size, mode: sourceMode & 0o7777, uid, gid }
  } finally {
    await source.close()
  }
}

/** True when a path is a regular file itself, not a link to one. */
export async function isRegularFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() ?? false
}

async function drain(
  source: FileHandle,
  target: FileHandle | undefined,
): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let size = 0; ; ) {
    const { bytesRead } = await source.read(buffer, 0, CHUNK_BYTES, size)
    if (bytesRead === 0) return { sha256: hash.digest('hex'), size }
    const chunk = buffer.subarray(0, bytesRead)
    hash.update(chunk)
    if (target) await target.writeFile(chunk)
    size += bytesRead
  }
}
