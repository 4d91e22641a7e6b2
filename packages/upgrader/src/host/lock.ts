import { randomUUID } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import type { Clock, Logger } from '@upgrade-hub/core'
import { LockHeldError, UnreadableError } from '../errors.ts'
import { bootId } from './boot.ts'
import { createExclusive, errnoOf, removeDurable } from './durable.ts'
import { isProgramRunning, isSameProcess, processInfo } from './process.ts'
import { readText } from './read.ts'

/** Who holds a lock, as it is written in the file. */
interface Holder {
  readonly attempt: string
  readonly pid: number
  readonly startTime: string
  readonly boot: string
  /** Tells two holds of one process apart. */
  readonly hold: string
}

/** What a lock is judged and reported with. */
export interface LockPorts {
  readonly clock: Clock
  readonly log: Logger
}

/** A lock that we hold until `release` or the end of this process. */
export interface Lock {
  /** False when somebody took it from us: then nothing may be changed any more. */
  isOurs(): Promise<boolean>
  release(): Promise<void>
}

/**
 * Takes a lock file made by link(2) with its holder in it. A dead holder's lock is taken over, once and with a log line.
 * An empty file is KubeEdge's own `idempotency_record`: it is dead when no keadm runs, whatever a clock says. What cannot
 * be read is nobody's.
 * @throws LockHeldError with the holder and the age
 */
export async function acquireLock(path: string, attempt: string, { clock, log }: LockPorts): Promise<Lock> {
  const text = JSON.stringify(await ourselves(attempt))
  for (let tries = 0; tries < 3; tries++) {
    if (await createExclusive(path, text, 0o600)) return lockOf(path, text)
    const found = await readLock(path)
    if (found === undefined) continue
    if (await isHeld(found)) break
    log.warn({ path, holder: found.slice(0, 300) }, 'took over a lock whose holder is dead')
    await moveAside(path, found)
  }
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: clock.now() }))
  const age = Math.max(0, Math.round((clock.now() - mtimeMs) / 1000))
  throw new LockHeldError(path, describe(await readLock(path)), age)
}

/** True while a live process holds the lock. */
export async function isLockHeld(path: string): Promise<boolean> {
  const text = await readLock(path)
  return text !== undefined && (await isHeld(text))
}

/** Removes a lock that nobody holds, whoever held it. */
export async function removeDead(path: string): Promise<void> {
  const text = await readLock(path)
  if (text !== undefined && !(await isHeld(text))) await moveAside(path, text)
}

/** Removes a lock that an earlier updater of the same attempt has left behind; one that lives keeps it. */
export async function releaseDead(path: string, attempt: string): Promise<void> {
  const text = await readLock(path)
  if (text === undefined || parseHolder(text)?.attempt !== attempt || (await isHeld(text))) return
  await moveAside(path, text)
}

async function ourselves(attempt: string): Promise<Holder> {
  const info = await processInfo(process.pid)
  return {
    attempt,
    pid: process.pid,
    startTime: info?.startTime ?? '',
    boot: await bootId(),
    hold: randomUUID(),
  }
}

function lockOf(path: string, text: string): Lock {
  const isOurs = async () => (await readLock(path)) === text
  return {
    isOurs,
    release: async () => {
      if (await isOurs()) await removeDurable(path)
    },
  }
}

async function isHeld(text: string): Promise<boolean> {
  const holder = parseHolder(text)
  if (holder) return holder.boot === (await bootId()) && (await isSameProcess(holder.pid, holder.startTime))
  return text === '' && (await isProgramRunning('keadm'))
}

async function readLock(path: string): Promise<string | undefined> {
  try {
    return await readText(path)
  } catch (error) {
    if (error instanceof UnreadableError) return 'unreadable'
    throw error
  }
}

/**
 * Of several that found the same dead holder one wins the rename. Who caught a live lock instead (it was replaced in
 * between) puts it back; its holder finds out by `isOurs` before it changes anything.
 */
async function moveAside(path: string, dead: string): Promise<void> {
  const aside = `${path}.${randomUUID()}.dead`
  try {
    await rename(path, aside)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return
    throw error
  }
  const moved = await readLock(aside)
  if (moved !== undefined && moved !== dead) await createExclusive(path, moved, 0o600)
  await rm(aside, { force: true }).catch(() => undefined)
}

function parseHolder(text: string): Omit<Holder, 'hold'> | undefined {
  try {
    const value = JSON.parse(text) as Partial<Holder>
    if (typeof value.pid !== 'number' || typeof value.boot !== 'string') return undefined
    return {
      attempt: String(value.attempt),
      pid: value.pid,
      startTime: String(value.startTime),
      boot: value.boot,
    }
  } catch {
    return undefined
  }
}

function describe(text: string | undefined): string {
  const holder = text ? parseHolder(text) : undefined
  return holder ? `${holder.attempt} (pid ${holder.pid})` : 'another command (keadm)'
}
