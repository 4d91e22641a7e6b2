import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hostTimeZone } from './time-zone.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'zone-'))
})
afterEach(() => rm(dir, { recursive: true }))

describe('the time zone of the host', () => {
  it.each([
    ['/usr/share/zoneinfo/Europe/Berlin', 'Europe/Berlin'],
    ['../usr/share/zoneinfo/America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['/usr/share/zoneinfo/posix/Etc/GMT+5', 'Etc/GMT+5'],
    ['/somewhere/else', 'UTC'],
  ])('is what localtime %s leads to', async (target, zone) => {
    const path = join(dir, 'localtime')
    await symlink(target, path)
    expect(await hostTimeZone(path)).toBe(zone)
  })

  it('is UTC where there is no link', async () => {
    await writeFile(join(dir, 'copy'), 'TZif2')
    expect(await hostTimeZone(join(dir, 'copy'))).toBe('UTC')
    expect(await hostTimeZone(join(dir, 'nothing'))).toBe('UTC')
  })
})
