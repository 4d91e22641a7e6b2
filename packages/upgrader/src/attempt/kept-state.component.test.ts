import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it } from 'vitest'
import { run } from '../host/command.ts'
import { openAttemptStore } from '../store/attempt-store.ts'
import { agentProgram, createNode, type NodeFixture, prepareFor, testPorts } from '../testing/index.ts'
import { runAttempt } from './run-attempt.ts'

const TIMEOUT = { timeout: 60_000 }

let node: NodeFixture
afterEach(() => node.remove())

/** A node with a companion, a configuration and a database. */
async function createFullNode(): Promise<void> {
  node = await createNode({
    component: (root) => ({
      companions: [join(root, 'bin/keadm')],
      state: { config: join(root, 'edgecore.yaml'), db: join(root, 'edgecore.db') },
    }),
  })
  await writeFile(join(node.root, 'edgecore.yaml'), 'version: 1\n', { mode: 0o640 })
  const db = openDb()
  db.exec('PRAGMA journal_mode=WAL; CREATE TABLE t (v); INSERT INTO t VALUES (1)')
  db.close()
}

function openDb(): DatabaseSync {
  return new DatabaseSync(join(node.root, 'edgecore.db'))
}

function inDb(): unknown[] {
  const db = openDb()
  try {
    return db
      .prepare('SELECT v FROM t')
      .all()
      .map((row) => row['v'])
  } finally {
    db.close()
  }
}

let tasks = 0

async function attempt(
  program: string,
  change: Parameters<typeof prepareFor>[0],
  at?: (point: string) => void,
) {
  const serial = ++tasks
  const store = openAttemptStore(node.config)
  const prepare = prepareFor({ Task: `task-${serial}`, TaskUID: `uid${serial}`, ...change })
  const { ports } = testPorts(program, { at: (point) => Promise.resolve(at?.(point)) })
  const carryOn = () => runAttempt({ config: node.config, id: prepare.HistoryID, ports })
  await store.accept(prepare)
  const prepared = await carryOn()
  if (prepared.step !== 'prepared') return prepared
  await store.permit(prepare.HistoryID, {
    epoch: serial,
    nodeUID: 'node-uid',
    intentSeq: 2,
    validForSeconds: 60,
  })
  return carryOn()
}

describe('what a new agent did to configuration and database', TIMEOUT, () => {
  const write = (value: number) => {
    const db = openDb()
    db.exec(`INSERT INTO t VALUES (${value})`)
    db.close()
  }

  it('is undone when it is rolled back', async () => {
    await createFullNode()
    const { ending } = await attempt(
      agentProgram('v1.1.0', 'dies soon'),
      { Image: 'host/team/edge' },
      (point) => {
        if (point === 'E9.before') write(2)
      },
    )
    expect(ending).toMatchObject({ outcome: 'RolledBack' })
    expect(inDb()).toEqual([1])
  })

  it('is undone by a task of purpose RollBack, which brings back what belonged to the version', async () => {
    await createFullNode()
    await attempt(agentProgram('v1.1.0'), { Image: 'host/team/edge' })
    write(2)
    await writeFile(join(node.root, 'edgecore.yaml'), 'version: 2\n')
    const back = { Image: '', Purpose: 'RollBack', Version: 'v1.0.0' } as const
    expect((await attempt('not pulled', back)).ending).toMatchObject({ outcome: 'Succeeded' })
    expect(inDb()).toEqual([1])
    expect(await readFile(join(node.root, 'edgecore.yaml'), 'utf8')).toBe('version: 1\n')
    expect((await stat(join(node.root, 'edgecore.yaml'))).mode & 0o777).toBe(0o640)
    expect(await readdir(join(node.root, 'bin'))).toEqual(['edgecore', 'keadm'])
  })

  it('stays when a task of purpose RollBack fails, because that is what the agent of now knows', async () => {
    await createFullNode()
    await attempt(agentProgram('v1.1.0'), { Image: 'host/team/edge' })
    write(2)
    const back = { Image: '', Purpose: 'RollBack', Version: 'v1.0.0' } as const
    const probes = [{ tcpSocket: { port: 1 }, failureThreshold: 1 }]
    const Health = { minReadySeconds: 0, probes }
    expect((await attempt('not pulled', { ...back, Health })).ending).toMatchObject({ outcome: 'RolledBack' })
    expect(inDb()).toEqual([1, 2])
    expect(await node.starts()).toEqual(['v1.0.0', 'v1.1.0', 'v1.0.0', 'v1.1.0'])
  })
})

describe('the agent’s path', TIMEOUT, () => {
  it('that is a link stays one, and what it leads to is replaced', async () => {
    node = await createNode()
    const { binary } = node.component
    const real = join(node.root, 'releases/edgecore')
    await mkdir(join(node.root, 'releases'))
    await rename(binary, real)
    await symlink(real, binary)
    const { ending } = await attempt(agentProgram('v1.1.0'), { Image: 'host/team/edge' })
    expect(ending).toMatchObject({ outcome: 'Succeeded' })
    expect((await lstat(binary)).isSymbolicLink()).toBe(true)
    expect(await readFile(real, 'utf8')).toBe(agentProgram('v1.1.0'))
    expect(await readdir(join(node.root, 'releases'))).toEqual(['edgecore'])
  })

  it('that leads elsewhere than when it was prepared is not followed', async () => {
    node = await createNode()
    const { binary } = node.component
    const store = openAttemptStore(node.config)
    const { ports } = testPorts(agentProgram('v1.1.0'))
    await store.accept(prepareFor({ Image: 'host/team/edge' }))
    await runAttempt({ config: node.config, id: 'job-1.1', ports })
    await rename(binary, join(node.root, 'elsewhere'))
    await symlink(join(node.root, 'elsewhere'), binary)
    await store.permit('job-1.1', { epoch: 1, nodeUID: 'node-uid', intentSeq: 2, validForSeconds: 60 })
    await runAttempt({ config: node.config, id: 'job-1.1', ports })
    expect((await store.attempt('job-1.1'))?.answer).toMatchObject({ Code: 'PreparedStale' })
  })

  it('may be on another file system than all else', async () => {
    const other = await mkdtemp('/dev/shm/upgrade-hub-')
    try {
      node = await createNode({ component: () => ({ binary: join(other, 'bin/edgecore') }) })
      expect((await stat(other)).dev).not.toBe((await stat(node.root)).dev)
      const { ending } = await attempt(agentProgram('v1.1.0', 'dies soon'), { Image: 'host/team/edge' })
      expect(ending).toMatchObject({ outcome: 'RolledBack' })
      expect((await attempt(agentProgram('v1.1.0'), { Image: 'host/team/edge' })).ending).toMatchObject({
        outcome: 'Succeeded',
      })
      expect(await readdir(join(other, 'bin'))).toEqual(['edgecore'])
    } finally {
      await rm(other, { recursive: true, force: true })
    }
  })

  it('in a folder that everybody may write to is not touched', async () => {
    node = await createNode()
    await chmod(join(node.root, 'bin'), 0o777)
    const { ending } = await attempt(agentProgram('v1.1.0'), { Image: 'host/team/edge' })
    expect(ending).toMatchObject({ outcome: 'FailedBeforeChange', code: 'CheckFailed' })
  })

  it('keeps mode and extended attributes through an upgrade, on the way back and by a RollBack', async () => {
    node = await createNode()
    const { binary } = node.component
    await dressed(binary)
    const image = { Image: 'host/team/edge' }
    await attempt(agentProgram('v1.1.0', 'dies soon'), image)
    expect(await dress(binary)).toEqual({ mode: 0o751, kept: true })
    await attempt(agentProgram('v1.1.0'), image)
    expect(await dress(binary)).toEqual({ mode: 0o751, kept: true })
    await attempt('not pulled', { Image: '', Purpose: 'RollBack', Version: 'v1.0.0' })
    expect(await dress(binary)).toEqual({ mode: 0o751, kept: true })
    expect(await readFile(binary, 'utf8')).toBe(agentProgram('v1.0.0'))
  })
})

const XATTRS = ['--xattrs', '--xattrs-include=*']

/** Gives a file a mode of its own and the extended attribute `user.kept`, by the one program that every host has for it. */
async function dressed(path: string): Promise<void> {
  const content = await readFile(path)
  const record = 'SCHILY.xattr.user.kept=yes\n'
  const archive = join(node.root, 'dressed.tar')
  await writeFile(
    archive,
    Buffer.concat([
      ...tarEntry('pax', 'x', Buffer.from(`${record.length + 3} ${record}`)),
      ...tarEntry(basename(path), '0', content),
      Buffer.alloc(1024),
    ]),
  )
  await run('/bin/tar', [...XATTRS, '-xf', archive, '-C', dirname(path)], { timeoutMs: 5_000 })
  await chmod(path, 0o751)
}

/** @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html */
function tarEntry(name: string, type: string, body: Buffer): readonly Buffer[] {
  const head = Buffer.alloc(512)
  const fields: readonly [number, string][] = [
    [0, name],
    [100, '0000755'],
    [108, '0000000'],
    [116, '0000000'],
    [124, body.length.toString(8).padStart(11, '0')],
    [136, '00000000000'],
    [148, '        '],
    [156, type],
    [257, 'ustar'],
    [263, '00'],
  ]
  for (const [at, text] of fields) head.write(text, at)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return [head, body, Buffer.alloc((512 - (body.length % 512)) % 512)]
}

async function dress(path: string): Promise<{ mode: number; kept: boolean }> {
  const args = [...XATTRS, '-cf', '-', '-C', dirname(path), basename(path)]
  const archive = await run('/bin/tar', args, { timeoutMs: 5_000 })
  const { mode } = await stat(path)
  return { mode: mode & 0o7777, kept: archive.includes('SCHILY.xattr.user.kept=yes') }
}
