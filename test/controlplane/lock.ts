import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A builder touches its lock with every line of progress; one that has been silent for this long is dead or stuck. */
const STALE_MS = 120_000
const POLL_MS = 1_000

/** Runs `work` while no other process of this machine does; says that it waits, and takes over from a dead holder. */
export async function withBuildLock<T>(
  path: string,
  say: (line: string) => void,
  work: (touch: () => void) => Promise<T>,
): Promise<T> {
  let waiting = false
  while (!tryLock(path)) {
    if (!waiting) say('Another process is building: waiting for it')
    waiting = true
    await delay(POLL_MS)
  }
  try {
    return await work(() => utimesSync(path, new Date(), new Date()))
  } finally {
    rmSync(path, { force: true })
  }
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (isStale(path)) rmSync(path, { force: true })
    return false
  }
}

function isStale(path: string): boolean {
  try {
    // empty: its holder is between creating it and writing its pid
    const pid = Number(readFileSync(path, 'utf8'))
    return (pid > 0 && !isAlive(pid)) || Date.now() - statSync(path).mtimeMs > STALE_MS
  } catch {
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
