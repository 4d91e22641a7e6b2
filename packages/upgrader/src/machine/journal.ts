import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '@upgrade-hub/core'
import { UnreadableError } from '../errors.ts'
import { errnoOf, isFullDisk, syncFolder, writeDurable } from '../host/durable.ts'
import { readText } from '../host/read.ts'
import { apply } from './fold.ts'
import { type AttemptState, type JournalRecord, NOTHING } from './state.ts'
import { STEPS } from './steps.ts'

const SUM_LENGTH = 16
/** Room for every record that an attempt can still write once it has stopped the agent. */
const RESERVE_BYTES = 128 * 1024

/** What a journal says, and how many of its bytes are whole records. */
interface Read {
  readonly state: AttemptState
  readonly wholeBytes: number
  readonly sum: string
}

/**
 * Reads a journal. Each line carries a checksum over itself and the line before, so a record that was changed or taken
 * out shows. A last line without its end is the trace of a power cut: its effect never began, and it is ignored.
 * @throws UnreadableError for anything else that is wrong
 */
export async function readJournal(path: string): Promise<AttemptState | undefined> {
  return (await read(path))?.state
}

/** A journal that is open for its one writer. */
export class Journal {
  readonly #path: string
  readonly #file: FileHandle
  #state: AttemptState
  #sum: string
  #bytes: number

  private constructor(path: string, file: FileHandle, found: Read) {
    this.#path = path
    this.#file = file
    this.#state = found.state
    this.#sum = found.sum
    this.#bytes = found.wholeBytes
  }

  /** Opens or begins it, and cuts a torn tail off. @throws UnreadableError */
  static async open(path: string): Promise<Journal> {
    const found = await read(path)
    if (found) await truncate(path, found.wholeBytes)
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
    const file = await open(path, flags, 0o600)
    try {
      await file.sync()
      await syncFolder(dirname(path))
      return new Journal(path, file, found ?? EMPTY)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  get state(): AttemptState {
    return this.#state
  }

  /** On disk when it returns. */
  async append(record: JournalRecord): Promise<AttemptState> {
    const next = apply(this.#state, record)
    const body = JSON.stringify(record)
    const sum = sumOf(this.#sum, body)
    const line = `${sum} ${body}\n`
    await this.#write(line).catch(async (error: unknown) => {
      if (!isFullDisk(error)) throw error
      await dropReserve(this.#path)
      await this.#write(line)
    })
    this.#sum = sum
    this.#state = next
    this.#bytes += Buffer.byteLength(line)
    return next
  }

  /** A record that was not written whole is taken back, or the next one would stand behind its torn half. */
  async #write(line: string): Promise<void> {
    try {
      await this.#file.appendFile(line)
      await this.#file.datasync()
    } catch (error) {
      await this.#file.truncate(this.#bytes).catch(() => undefined)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

/** Puts a journal that cannot be read out of the way, for people to look at. */
export async function setAside(path: string, suffix: string): Promise<void> {
  await rename(path, `${path}.unreadable-${suffix}`).catch((error: unknown) => {
    if (errnoOf(error) !== 'ENOENT') throw error
  })
  await syncFolder(dirname(path))
}

/** Keeps disk space for the journal, so that a disk that fills up cannot stop an attempt half way. */
export function keepReserve(path: string): Promise<void> {
  return writeDurable(`${path}.reserve`, '\n'.repeat(RESERVE_BYTES))
}

/** Gives the kept space back. */
export async function dropReserve(path: string): Promise<void> {
  await rm(`${path}.reserve`, { force: true })
}

const EMPTY: Read = { state: NOTHING, wholeBytes: 0, sum: '' }

async function read(path: string): Promise<Read | undefined> {
  const text = await readText(path)
  if (text === undefined) return undefined
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (/[^\0]/.test(text.slice(whole.length)) && text.slice(whole.length).length > MAX_LINE) {
    throw new UnreadableError(path, 'a line without an end')
  }
  let read: Read = EMPTY
  for (const line of whole.split('\n').slice(0, -1)) read = next(path, read, line)
  return read
}

const MAX_LINE = 256 * 1024

function next(path: string, before: Read, line: string): Read {
  const body = line.slice(SUM_LENGTH + 1)
  const sum = sumOf(before.sum, body)
  if (!line.startsWith(`${sum} `))
    throw new UnreadableError(path, `record ${before.state.lastSeq + 1} is damaged`)
  try {
    const state = apply(before.state, asRecord(JSON.parse(body)))
    return { state, wholeBytes: before.wholeBytes + Buffer.byteLength(line) + 1, sum }
  } catch (error) {
    throw new UnreadableError(path, messageOf(error))
  }
}

function sumOf(before: string, body: string): string {
  return createHash('sha256').update(before).update(body).digest('hex').slice(0, SUM_LENGTH)
}

/** The checksum says that we wrote it; this says that this version of the program understands it. */
function asRecord(value: unknown): JournalRecord {
  const record = value as JournalRecord
  if (record.v !== 1) throw new UnreadableError('the record', `version ${String(record.v)}`)
  if (!STEPS.includes(record.step)) throw new UnreadableError('the record', `step ${String(record.step)}`)
  return record
}
