import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { messageOf } from '@upgrade-hub/core'
import { UnreadableError } from '../errors.ts'
import { errnoOf } from './durable.ts'

/** A path or a disk that will give no text however often it is asked; anything else may be better the next time. */
const HOPELESS = new Set(['EIO', 'EISDIR', 'ELOOP', 'ENOTDIR', 'EACCES', 'EINVAL', 'ENXIO', 'EUCLEAN'])

/** Larger than any file of state that we write. */
const MAX_STATE_BYTES = 4 * 1024 * 1024

/**
 * The text of a regular file of at most 4 MiB; undefined when there is none. Links are not followed.
 * @throws UnreadableError for what is there and can never be read
 */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readSmall(path)
  } catch (error) {
    if (HOPELESS.has(errnoOf(error) ?? '')) throw new UnreadableError(path, messageOf(error))
    throw error
  }
}

async function readSmall(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return undefined
      throw error
    },
  )
  if (!file) return undefined
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new UnreadableError(path, 'it is no regular file')
    const { size } = stat
    if (size > MAX_STATE_BYTES) throw new UnreadableError(path, `${size} bytes`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** The checked value of a JSON file; undefined when there is none. @throws UnreadableError for what is not valid. */
export async function readJson<T>(path: string, check: (value: unknown) => T): Promise<T | undefined> {
  const text = await readText(path)
  if (text === undefined) return undefined
  try {
    return check(JSON.parse(text))
  } catch (error) {
    throw new UnreadableError(path, messageOf(error))
  }
}
