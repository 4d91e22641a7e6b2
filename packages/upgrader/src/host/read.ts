import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { messageOf } from '@upgrade-hub/core'
import { UnreadableError } from '../errors.ts'
import { errnoOf } from './durable.ts'

/** Larger than any file of state that we write. */
const MAX_STATE_BYTES = 4 * 1024 * 1024

/** The text of a regular file of at most 4 MiB; undefined when there is none. Links are not followed. */
export async function readText(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const { size } = await file.stat()
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
