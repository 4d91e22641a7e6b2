import { execFileSync } from 'node:child_process'
import { accessSync } from 'node:fs'
import { mkdir, readdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { AGENT, FILE, HurriedClock, PullBench } from './testing/index.ts'

const MOUNT = '/usr/bin/mount'
const UMOUNT = '/usr/bin/umount'
const DISK_BYTES = 4 * 1024 * 1024

let bench: PullBench
let disk: string

/** A disk of four mebibytes of its own; false where this host gives none. */
function mountDisk(path: string): boolean {
  try {
    accessSync(MOUNT)
    execFileSync(MOUNT, ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', path], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

beforeEach(async () => {
  bench = await PullBench.create()
  disk = join(bench.into, 'disk')
  await mkdir(disk)
})

afterEach(() => bench.remove())

/** F05, R22 */
it('a disk that is full in the middle of a pull ends it as that, at once, and is free again after it', async (context) => {
  if (!mountDisk(disk)) context.skip('this host lets us mount no tmpfs')
  try {
    const { bavail } = await statfs(disk)
    // What travels has room; what it unpacks to has not.
    await bench.publish([[{ ...AGENT, content: Buffer.alloc(2 * DISK_BYTES) }]])
    const clock = new HurriedClock()
    const pull = bench.pull({ into: disk, clock, limits: { retries: 3 } })
    await expect(pull).rejects.toMatchObject({ code: 'ENOSPC' })
    expect([await readdir(disk), clock.slept]).toEqual([[], []])
    expect((await statfs(disk)).bavail).toBe(bavail)
    await bench.publish([[AGENT]])
    expect((await bench.pull({ into: disk })).files[FILE]?.size).toBe(9)
  } finally {
    execFileSync(UMOUNT, [disk])
  }
})
