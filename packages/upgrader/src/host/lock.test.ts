import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LockHeldError } from '../errors.ts'
import { acquireLock, isLockHeld, releaseDead } from './lock.ts'
import { processInfo } from './process.ts'

const PORTS = { clock: systemClock, log: silentLogger }

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upgrade-hub-lock-'))
  path = join(folder, 'idempotency_record')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function deadHolder(): Promise<string> {
  await (await acquireLock(path, 'dead.1', PORTS)).isOurs()
  const holder = JSON.parse(await readFile(path, 'utf8')) as object
  return JSON.stringify({ ...holder, startTime: '1' })
}

describe('the lock', () => {
  it('has one holder, by name and age for the others, and is free again after it', async () => {
    const lock = await acquireLock(path, 'job.1', PORTS)
    await expect(acquireLock(path, 'job.2', PORTS)).rejects.toThrow(/job\.1 \(pid \d+\) for 0 s/)
    await lock.release()
    await (await acquireLock(path, 'job.2', PORTS)).release()
    expect(await readdir(folder)).toEqual([])
  })

  it('of a dead holder is taken over, once', async () => {
    await writeFile(path, await deadHolder())
    const takers = await Promise.allSettled([1, 2, 3, 4].map((n) => acquireLock(path, `job.${n}`, PORTS)))
    expect(takers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await readdir(folder)).toEqual(['idempotency_record'])
  })

  it('of another boot is dead', async () => {
    const holder = JSON.parse(await deadHolder()) as object
    const info = await processInfo(process.pid)
    await writeFile(path, JSON.stringify({ ...holder, startTime: info?.startTime, boot: 'another' }))
    expect(await isLockHeld(path)).toBe(false)
  })

  it('of a process that is dead but not reaped is dead', async () => {
    const child = spawn('/bin/true')
    await once(child, 'exit')
    expect(await processInfo(child.pid ?? 0)).toBeUndefined()
  })

  /** F06: whatever the clock said when it was made. */
  it.each([0, 1_800_000_000, 2_100_000_000])(
    'that keadm has made (an empty file) holds while a keadm runs, at %i',
    async (seconds) => {
      const keadm = join(folder, 'keadm')
      await copyFile('/bin/sleep', keadm)
      const child = spawn(keadm, ['60'])
      await once(child, 'spawn')
      await writeFile(path, '')
      await utimes(path, seconds, seconds)
      await expect(acquireLock(path, 'job.1', PORTS)).rejects.toBeInstanceOf(LockHeldError)
      child.kill('SIGKILL')
      await once(child, 'exit')
      await (await acquireLock(path, 'job.1', PORTS)).release()
    },
  )

  it('that is garbage is dead, and a link or a folder in its place is moved away without being followed', async () => {
    await writeFile(path, 'garbage')
    await (await acquireLock(path, 'job.1', PORTS)).release()
    const victim = join(folder, 'victim')
    await writeFile(victim, 'untouched')
    await symlink(victim, path)
    await (await acquireLock(path, 'job.1', PORTS)).release()
    expect(await readFile(victim, 'utf8')).toBe('untouched')
    await mkdir(path)
    await (await acquireLock(path, 'job.1', PORTS)).release()
  })

  it('that was taken from its holder is not released by it', async () => {
    const lock = await acquireLock(path, 'job.1', PORTS)
    await writeFile(path, 'somebody else')
    expect(await lock.isOurs()).toBe(false)
    await lock.release()
    expect(await readFile(path, 'utf8')).toBe('somebody else')
  })

  it('that a dead updater left is cleared for the same attempt only', async () => {
    await writeFile(path, await deadHolder())
    await releaseDead(path, 'other.1')
    expect(await readdir(folder)).toHaveLength(1)
    await releaseDead(path, 'dead.1')
    expect(await readdir(folder)).toEqual([])
  })
})
