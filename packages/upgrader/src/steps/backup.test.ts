import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Component, EdgeConfig } from '../config.ts'
import { fileFacts } from '../host/files.ts'
import { backUp } from './backup.ts'
import { findBackup, isWhole, listBackups, pruneBackups } from './backup-catalog.ts'
import { clearBeside, putBack, swapIn, temporaryOf } from './swap.ts'

let root: string
let config: EdgeConfig
let component: Component
let clock: FakeClock

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'upgrade-hub-backup-'))
  config = { paths: { etc: join(root, 'etc') } } as EdgeConfig
  clock = new FakeClock()
  component = {
    name: 'edgecore',
    binary: join(root, 'edgecore'),
    companions: [],
    service: { manager: 'systemd', unit: 'e.service' },
    stopSeconds: 1,
    versionArgs: ['--version'],
    probes: [],
    state: { config: join(root, 'edgecore.yaml'), db: join(root, 'edgecore.db') },
  }
  await writeFile(component.binary, 'old', { mode: 0o750 })
  await chmod(component.binary, 0o750)
  await writeFile(join(root, 'edgecore.yaml'), 'a: 1', { mode: 0o640 })
})

afterEach(() => rm(root, { recursive: true, force: true }))

const back = (name: string, version = 'v1.0.0') => backUp({ config, component, name, version, clock })

describe('a backup', () => {
  it('has programs, configuration and a consistent database that is in use', async () => {
    const db = new DatabaseSync(join(root, 'edgecore.db'))
    db.exec('PRAGMA journal_mode=WAL; CREATE TABLE t (n); INSERT INTO t VALUES (1)')
    const { files, folder } = await back('uid.1')
    db.exec('INSERT INTO t VALUES (2)')
    db.close()
    expect(files.map(({ kind }) => kind)).toEqual(['program', 'config', 'db'])
    const copy = new DatabaseSync(join(folder, 'edgecore.db'), { readOnly: true })
    expect(copy.prepare('SELECT n FROM t').all()).toEqual([{ n: 1 }])
    copy.close()
    expect(await readlink(join(root, 'etc/backup/v1.0.0'))).toBe('uid.1')
  })

  it('of the same name is used again while it is what is installed, and made anew when it is not', async () => {
    const first = await back('uid.1')
    clock.jumpWall(5000)
    expect((await back('uid.1')).at).toBe(first.at)
    await writeFile(component.binary, 'newer')
    expect((await back('uid.1')).at).not.toBe(first.at)
  })

  it('that was left half done is none', async () => {
    await mkdir(join(root, 'etc/backup/uid.1.partial'), { recursive: true })
    await writeFile(join(root, 'etc/backup/uid.1.partial/0-edgecore'), 'half')
    expect(await findBackup(config, 'edgecore')).toBeUndefined()
    const { files } = await back('uid.1')
    expect(await isWhole(files)).toBe(true)
    expect(await readdir(join(root, 'etc/backup'))).toEqual(['uid.1', 'v1.0.0'])
  })

  /** S37 */
  it.each([
    ['one bit', (copy: string) => writeFile(copy, 'ole')],
    ['its file', (copy: string) => rm(copy)],
  ])('that has lost %s is not found, the one before it is', async (_, damage) => {
    await back('uid.1')
    clock.jumpWall(5000)
    const { files } = await back('uid.2')
    await damage(files[0]?.copy ?? '')
    expect((await findBackup(config, 'edgecore', 'v1.0.0'))?.folder).toBe(join(root, 'etc/backup/uid.1'))
  })

  it('goes only when it is older than 30 days and not one of the last three', async () => {
    for (let i = 1; i <= 5; i++) {
      await back(`uid.${i}`)
      clock.jumpWall(1000)
    }
    await pruneBackups(config, 'edgecore', clock.now())
    expect(await listBackups(config, 'edgecore')).toHaveLength(5)
    await pruneBackups(config, 'edgecore', clock.now() + 31 * 86_400_000)
    const kept = await listBackups(config, 'edgecore')
    expect(kept.map(({ folder }) => folder.slice(-5))).toEqual(['uid.5', 'uid.4', 'uid.3'])
  })

  it('leaves a folder of keadm with the name of the version alone', async () => {
    await mkdir(join(root, 'etc/backup/v1.0.0'), { recursive: true })
    await back('uid.1')
    expect((await stat(join(root, 'etc/backup/v1.0.0'))).isDirectory()).toBe(true)
    expect(await listBackups(config, 'edgecore')).toHaveLength(1)
  })
})

describe('a swap', () => {
  async function staged(content: string) {
    const path = join(root, 'staged')
    await writeFile(path, content)
    const { sha256 = '', size = 0 } = (await fileFacts(path)) ?? {}
    return { target: component.binary, staged: path, sha256, size }
  }

  it('keeps the mode of the file it replaces, and can be done again', async () => {
    const file = await staged('new')
    await swapIn(file)
    const { ino } = await stat(component.binary)
    await swapIn(file)
    expect(await readFile(component.binary, 'utf8')).toBe('new')
    expect(await stat(component.binary)).toMatchObject({ ino, mode: 0o100750 })
  })

  /** S34 */
  it('of a file that was changed after it was verified leaves the old one and nothing else', async () => {
    const file = await staged('new')
    await writeFile(file.staged, 'evil')
    await expect(swapIn(file)).rejects.toMatchObject({ edgeCode: 'DigestMismatch' })
    expect(await readFile(component.binary, 'utf8')).toBe('old')
    expect(await readdir(root)).not.toContain(temporaryOf('edgecore'))
  })

  it('does not follow a link in the place of the staged file', async () => {
    const file = await staged('new')
    await rm(file.staged)
    const { symlink } = await import('node:fs/promises')
    await symlink('/etc/passwd', file.staged)
    await expect(swapIn(file)).rejects.toThrow('ELOOP')
  })

  /** R37 */
  it('replaces a program that runs at this moment, which cannot be written over', async () => {
    await copyFile('/bin/sleep', component.binary)
    const child = spawn(component.binary, ['60'])
    await once(child, 'spawn')
    await expect(writeFile(component.binary, 'new')).rejects.toThrow('ETXTBSY')
    await swapIn(await staged('new'))
    expect(await readFile(component.binary, 'utf8')).toBe('new')
    child.kill('SIGKILL')
    await once(child, 'exit')
  })

  it('goes over what an earlier one left beside the target', async () => {
    await writeFile(temporaryOf(component.binary), 'half')
    await swapIn(await staged('new'))
    expect((await readdir(root)).filter((name) => name.startsWith('.'))).toEqual([
      '.edgecore.upgrade-hub-old',
    ])
    await clearBeside(component.binary)
    expect((await readdir(root)).filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('is undone with the mode of before, and what did not exist goes', async () => {
    const { files } = await back('uid.1')
    await swapIn(await staged('new'))
    await chmod(component.binary, 0o777)
    const [program] = files
    if (program) await putBack(program)
    expect(await readFile(component.binary, 'utf8')).toBe('old')
    expect((await stat(component.binary)).mode & 0o777).toBe(0o750)
    const absent = {
      kind: 'program' as const,
      target: join(root, 'staged'),
      sha256: '',
      size: 0,
      mode: 0,
      uid: 0,
      gid: 0,
    }
    await putBack(absent)
    expect(await readdir(root)).not.toContain('staged')
  })
})
