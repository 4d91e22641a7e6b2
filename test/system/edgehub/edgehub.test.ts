import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestRegistry } from '@upgrade-hub/oci/testing'
import type { Prepare, Proceed } from '@upgrade-hub/protocol'
import { askEdgehub, controlSocket } from '@upgrade-hub/upgrader/control'
import { prepareFor } from '@upgrade-hub/upgrader/testing'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { EdgeNode, MAIN, NEW, OLD, startRegistry } from './edge-node.ts'
import { FakeHub, until } from './fake-hub.ts'

const TIMEOUT = { timeout: 60_000 }
/** For what is found on disk. */
const POLL = { interval: 50, timeout: 30_000 }

let registry: TestRegistry
let image: string
beforeAll(async () => {
  ;({ registry, image } = await startRegistry())
})
afterAll(() => registry.stop())

let tasks = 0
function intents(more: Partial<Prepare> = {}): { prepare: Prepare; proceed: Proceed; id: string } {
  const prepare = prepareFor({ Task: `task-${++tasks}`, TaskUID: `uid-${tasks}`, Image: image, ...more })
  const { Task, TaskUID, Attempt, NodeUID } = prepare
  const proceed = { Task, TaskUID, Attempt, IntentSeq: 2, NodeUID, Epoch: tasks, ValidForSeconds: 60 }
  return { prepare, proceed, id: prepare.HistoryID }
}

function refOf({ Task, TaskUID, Attempt }: Prepare, IntentSeq: number) {
  return { Task, TaskUID, Attempt, IntentSeq }
}

describe('one attempt', () => {
  let hub: FakeHub
  let node: EdgeNode
  beforeEach(async () => {
    hub = await FakeHub.start()
    node = await EdgeNode.create(hub, registry.host)
    node.start()
  })
  afterEach(async () => {
    await node.remove()
    await hub.stop()
  })

  const newStarts = async () => (await node.fixture.starts()).filter((version) => version === NEW).length

  it(
    'goes from prepare to a stored result, tells each action, and probes the agent again',
    TIMEOUT,
    async () => {
      const { prepare, proceed, id } = intents()
      expect(await hub.ask('upgrade', prepare, 'first')).toMatchObject({ Value: 'accepted' })
      expect(await hub.answer(prepare)).toMatchObject({
        Value: 'prepared',
        FromVersion: OLD,
        TaskUID: prepare.TaskUID,
      })
      expect(await newStarts()).toBe(0)
      expect(await hub.ask('proceed', proceed, 'first')).toMatchObject({ Value: 'accepted' })
      await until(() => hub.resultOf(id) !== undefined)
      expect(hub.resultOf(id)).toMatchObject({ Outcome: 'Succeeded', RunningVersion: NEW, FromVersion: OLD })
      await until(() => hub.probes.includes(NEW))
      expect(hub.probes[0]).toBe(OLD)
      const final = hub.progress.filter(({ Final }) => Final).map(({ action, succ }) => `${action} ${succ}`)
      expect(new Set(final)).toEqual(new Set(['Check true', 'BackUp true', 'Upgrade true']))
      expect(await newStarts()).toBe(1)
      expect(hub.hellos[0]).toMatchObject({ protocol: 1, probe: { version: OLD }, open: [], undelivered: 0 })
    },
  )

  it.each(['preparing', 'prepared', 'proceeding', 'ended'] as const)(
    'loses nothing and does nothing twice when edgehub is killed with it %s',
    TIMEOUT,
    async (state) => {
      const { prepare, proceed, id } = intents()
      const killHere = async (here: typeof state) => {
        if (state !== here) return
        await node.end('SIGKILL')
        node.start()
        await until(() => hub.hellos.length === 2)
      }
      await hub.ask('upgrade', prepare, 'first')
      await killHere('preparing')
      expect(await hub.ask('upgrade', prepare)).toMatchObject({ Value: 'prepared' })
      await killHere('prepared')
      if (state === 'ended') hub.manners.resultStatus = 0
      if (state === 'ended') hub.manners.storesFrames = false
      await hub.ask('proceed', proceed, 'first')
      await killHere('proceeding')
      await vi.waitUntil(async () => (await node.view(id))?.phase === 'ended', POLL)
      await killHere('ended')
      Object.assign(hub.manners, { resultStatus: 200, storesFrames: true })
      await until(() => hub.resultOf(id) !== undefined)
      expect(hub.resultOf(id)).toMatchObject({ Outcome: 'Succeeded', RunningVersion: NEW })
      expect(await newStarts()).toBe(1)
      await vi.waitUntil(async () => (await node.spooled()) === 0, POLL)
      expect(hub.hellos[1]?.open.map(({ task }) => task)).toEqual(state === 'ended' ? [] : [prepare.Task])
    },
  )

  it('is not proceeded with while a person holds the node, and tells the hub why', TIMEOUT, async () => {
    const { prepare, proceed, id } = intents()
    await hub.ask('upgrade', prepare)
    const ctl = (verb: 'hold' | 'release') => askEdgehub(controlSocket(node.fixture.config), { verb })
    expect(await ctl('hold')).toMatchObject({ done: true, data: { session: { state: 'open' } } })
    const held = { Value: 'refused', Code: 'Busy', Reason: expect.stringContaining('held at the node') }
    expect(await hub.ask('proceed', proceed)).toMatchObject(held)
    expect(await ctl('release')).toMatchObject({ done: true })
    // The same permission again stays refused (F10); the next one counts.
    expect(await hub.ask('proceed', proceed)).toMatchObject(held)
    await hub.ask('proceed', { ...proceed, IntentSeq: 3 }, 'first')
    await until(() => hub.resultOf(id) !== undefined)
    expect(hub.resultOf(id)).toMatchObject({ Outcome: 'Succeeded' })
  })

  it('says of a permission that it never had that it has expired, and waits on', TIMEOUT, async () => {
    const { prepare, proceed } = intents()
    await hub.ask('upgrade', prepare)
    const ask = { ...proceed, ValidForSeconds: 0 }
    const refused = { Value: 'refused', Code: 'PermissionExpired' }
    expect(await hub.ask('proceed', ask)).toMatchObject(refused)
    // The permission itself, overtaken by the question, permits nothing any more (F11).
    expect(await hub.ask('proceed', proceed)).toMatchObject(refused)
    expect((await node.view(prepare.HistoryID))?.phase).toBe('prepared')
    expect(await node.fixture.starts()).toEqual([OLD])
  })

  it('is finished and reported although the hub dies and comes back', TIMEOUT, async () => {
    const { prepare, proceed, id } = intents()
    await hub.ask('upgrade', prepare)
    await hub.ask('proceed', proceed, 'first')
    await hub.kill()
    await vi.waitUntil(async () => (await node.view(id))?.phase === 'ended', POLL)
    expect(await node.spooled()).toBe(1)
    await hub.open()
    await until(() => hub.resultOf(id) !== undefined)
    expect(hub.resultOf(id)).toMatchObject({ Outcome: 'Succeeded' })
    await vi.waitUntil(async () => (await node.spooled()) === 0, POLL)
  })

  it('is reported over the session when HTTPS is out of reach', TIMEOUT, async () => {
    hub.manners.resultStatus = 0
    const { prepare, proceed, id } = intents()
    await hub.ask('upgrade', prepare)
    await hub.ask('proceed', proceed, 'first')
    await until(() => hub.resultOf(id) !== undefined)
    expect(hub.resultOf(id)).toMatchObject({ Outcome: 'Succeeded' })
    await vi.waitUntil(async () => (await node.spooled()) === 0, POLL)
  })

  it('has its result set aside when the hub refuses it for good', TIMEOUT, async () => {
    hub.manners.resultStatus = 403
    const { prepare, proceed } = intents()
    await hub.ask('upgrade', prepare)
    await hub.ask('proceed', proceed, 'first')
    await vi.waitUntil(() => node.log.includes('set aside') || rejectedFiles(node), POLL)
    expect(await node.spooled()).toBe(0)
  })

  it('goes on when edgehub is stopped in order', TIMEOUT, async () => {
    const { prepare, proceed, id } = intents()
    await hub.ask('upgrade', prepare)
    await hub.ask('proceed', proceed, 'first')
    expect(await node.end('SIGTERM')).toBe(0)
    expect(node.log).toContain('stopped')
    await until(() => hub.resultOf(id) !== undefined)
    expect(hub.resultOf(id)).toMatchObject({ Outcome: 'Succeeded' })
  })
})

async function rejectedFiles(node: EdgeNode): Promise<boolean> {
  const folder = join(node.fixture.config.paths.state, 'spool/rejected')
  return (await readdir(folder).catch(() => [])).length > 0
}

describe('intents', () => {
  let hub: FakeHub
  let node: EdgeNode
  beforeAll(async () => {
    hub = await FakeHub.start()
    node = await EdgeNode.create(hub, registry.host, { policy: { tools: ['keadm'], images: [image] } })
    node.start()
  }, 60_000)
  afterAll(async () => {
    await node.remove()
    await hub.stop()
  })

  it('get the same answer when they come again, and stale when a newer one was there', TIMEOUT, async () => {
    const { prepare } = intents()
    const prepared = await hub.ask('upgrade', prepare)
    expect(await hub.ask('upgrade', prepare)).toEqual(prepared)
    const again = { ...prepare, IntentSeq: 5 }
    expect(await hub.ask('upgrade', again)).toEqual({ ...prepared, IntentSeq: 5 })
    expect(await hub.ask('upgrade', { ...prepare, IntentSeq: 4 })).toMatchObject({ Value: 'stale' })
    const cancel = refOf(prepare, 6)
    expect(await hub.ask('cancel', cancel)).toMatchObject({ Value: 'done' })
    expect(await hub.ask('cancel', cancel)).toMatchObject({ Value: 'done' })
    expect(await hub.ask('upgrade', again)).toMatchObject({ Value: 'stale' })
    await vi.waitUntil(
      async () => (await node.view(prepare.HistoryID))?.result?.Outcome === 'Cancelled',
      POLL,
    )
  })

  it('bury an attempt that a cancel overtook, over a restart too', TIMEOUT, async () => {
    const { prepare, proceed } = intents()
    expect(await hub.ask('cancel', refOf(prepare, 2))).toMatchObject({
      Value: 'tombstoned',
      TaskUID: prepare.TaskUID,
    })
    await node.end('SIGKILL')
    node.start()
    await until(() => hub.hellos.length === 2)
    expect(await hub.ask('upgrade', prepare)).toMatchObject({ Value: 'refused', Code: 'Cancelled' })
    expect(await hub.ask('upgrade', { ...prepare, IntentSeq: 3 })).toMatchObject({
      Value: 'refused',
      Code: 'Cancelled',
    })
    expect(await hub.ask('proceed', { ...proceed, IntentSeq: 4 })).toMatchObject({ Value: 'refused' })
  })

  it('are refused when they are for another Node, tool, component, image or task', TIMEOUT, async () => {
    const refused = async (more: Partial<Prepare>, code: string) => {
      expect(await hub.ask('upgrade', intents(more).prepare)).toMatchObject({ Value: 'refused', Code: code })
    }
    await refused({ NodeUID: 'another' }, 'NodeReplaced')
    await refused({ UpgradeTool: 'k0s' }, 'UnsupportedTool')
    await refused({ Component: 'kernel' }, 'UnknownComponent')
    await refused({ Version: '1.2' }, 'BadRequest')
    await refused({ HistoryID: '../x.1' }, 'BadRequest')
    await refused({ Image: `${registry.host}/other/image` }, 'PolicyRefused')
    const { prepare, proceed } = intents()
    await hub.ask('upgrade', prepare)
    expect(await hub.ask('proceed', { ...proceed, NodeUID: 'another' })).toMatchObject({
      Code: 'NodeReplaced',
    })
    expect(await hub.ask('proceed', { ...proceed, TaskUID: 'another' })).toMatchObject({ Code: 'BadRequest' })
    expect(await hub.ask('proceed', intents().proceed)).toMatchObject({
      Value: 'refused',
      Code: 'PreparedStale',
    })
    expect(await hub.ask('cancel', { ...refOf(prepare, 9), TaskUID: 'another' })).toMatchObject({
      Code: 'BadRequest',
    })
    expect((await node.view(prepare.HistoryID))?.phase).toBe('prepared')
    expect(await node.fixture.starts()).toEqual([OLD])
  })

  it(
    'that are prepared end by an abort of the welcome or a changed Node, and not by unknown',
    TIMEOUT,
    async () => {
      const reconnect = async (manners: Partial<FakeHub['manners']>) => {
        Object.assign(hub.manners, manners)
        const hellos = hub.hellos.length
        hub.session?.close(1000, 'test')
        await until(() => hub.hellos.length > hellos)
      }
      const endOf = (id: string) => vi.waitUntil(async () => (await node.view(id))?.result?.Outcome, POLL)
      const first = intents()
      await hub.ask('upgrade', first.prepare)
      await reconnect({ verdict: 'unknown' })
      const second = intents()
      await hub.ask('upgrade', second.prepare)
      expect((await node.view(first.id))?.phase).toBe('prepared')
      expect(hub.hellos.at(-1)?.open.map(({ task }) => task)).toContain(first.prepare.Task)
      await reconnect({ verdict: 'abort' })
      expect(await endOf(first.id)).toBe('Cancelled')
      await reconnect({ verdict: 'continue' })
      const third = intents()
      await hub.ask('upgrade', third.prepare)
      await reconnect({ nodeUID: 'new-uid' })
      expect(await endOf(third.id)).toBe('Cancelled')
    },
  )
})

describe('the certificate', () => {
  it(
    'is renewed by a process of its own when two thirds of its life are over, and used at the next dial (S29)',
    TIMEOUT,
    async () => {
      const hub = await FakeHub.start()
      const node = await EdgeNode.create(hub, registry.host)
      // An hour of its life lies before its making, so a short one is old at once.
      const { cert } = await hub.enrol(600)
      const old = await readFile(cert, 'utf8')
      node.start()
      await vi.waitUntil(async () => (await readFile(cert, 'utf8')) !== old, POLL)
      expect(new X509Certificate(await readFile(cert)).validToDate.getTime()).toBeGreaterThan(
        Date.now() + 3_600_000,
      )
      await until(() => hub.session !== undefined)
      hub.session?.close(1000, 'test')
      await until(() => hub.hellos.length === 2)
      await node.remove()
      await hub.stop()
    },
  )
})

describe('the program', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', env: {} })

  it('lists every problem of its configuration at once, and prints what it understood', TIMEOUT, async () => {
    const hub = await FakeHub.start()
    const node = await EdgeNode.create(hub, registry.host)
    const good = run('--config', node.configPath, '--print-config')
    expect(good.status).toBe(0)
    expect(good.stdout).toContain('nodeName: edge-1')
    await writeFile(node.configPath, 'nodeName: EDGE\ncomponents: []\n')
    const bad = run('--config', node.configPath)
    expect(bad.status).toBe(1)
    expect(bad.stderr).toMatch(/nodeName[^]*components/)
    await node.remove()
    await hub.stop()
  })

  it('does not run beside another one on the same state folder, and names it', TIMEOUT, async () => {
    const hub = await FakeHub.start()
    const node = await EdgeNode.create(hub, registry.host)
    node.start()
    await until(() => hub.hellos.length === 1)
    const second = run('--config', node.configPath)
    expect(second.status).toBe(1)
    expect(second.stderr).toMatch(/edgehub\.lock is held by edgehub \(pid \d+\) for \d+ s/)
    await node.end('SIGKILL')
    node.start()
    await until(() => hub.hellos.length === 2)
    await node.remove()
    await hub.stop()
  })

  it('carries neither the Kubernetes client, nor the X.509 library, nor the image puller', async () => {
    const { metafile } = await build({
      entryPoints: [MAIN],
      bundle: true,
      platform: 'node',
      format: 'esm',
      write: false,
      metafile: true,
      logLevel: 'silent',
    })
    const heavy = /client-node|packages\/kube\/|@peculiar|reflect-metadata|packages\/oci\/|tar-stream/
    expect(Object.keys(metafile.inputs).filter((path) => heavy.test(path))).toEqual([])
  })
})
