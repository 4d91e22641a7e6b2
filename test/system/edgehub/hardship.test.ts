import type { TestRegistry } from '@upgrade-hub/oci/testing'
import type { Prepare, Proceed } from '@upgrade-hub/protocol'
import { askEdgehub, controlSocket } from '@upgrade-hub/upgrader/control'
import { prepareFor } from '@upgrade-hub/upgrader/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { EdgeNode, NEW, NEXT, OLD, startRegistry } from './edge-node.ts'
import { FakeHub, type Intent, until } from './fake-hub.ts'

const TIMEOUT = { timeout: 60_000 }
const POLL = { interval: 20, timeout: 30_000 }

let registry: TestRegistry
let image: string
let hub: FakeHub
let node: EdgeNode
beforeAll(async () => {
  ;({ registry, image } = await startRegistry())
  hub = await FakeHub.start()
  node = await EdgeNode.create(hub, registry.host)
  node.start()
}, 60_000)
afterAll(async () => {
  await node.remove()
  await hub.stop()
  await registry.stop()
})

let tasks = 0
function intents(more: Partial<Prepare> = {}): { prepare: Prepare; proceed: Proceed; id: string } {
  const prepare = prepareFor({ Task: `task-${++tasks}`, TaskUID: `uid-${tasks}`, Image: image, ...more })
  const { Task, TaskUID, Attempt, NodeUID } = prepare
  const proceed = { Task, TaskUID, Attempt, IntentSeq: 2, NodeUID, Epoch: tasks, ValidForSeconds: 60 }
  return { prepare, proceed, id: prepare.HistoryID }
}

function repeat(times: number, operation: string, content: Intent): void {
  for (let i = 0; i < times; i++) hub.session?.send(operation, 'upgrade/job/node/edge-1', content)
}

async function dropSession(): Promise<void> {
  const hellos = hub.hellos.length
  hub.session?.close(1000, 'test')
  await until(() => hub.hellos.length > hellos)
}

/** One node whose agent goes from version to version; each test goes on where the one before it has ended. */
describe('a node in hard times', () => {
  it('waits for a confirmation where everybody sees it, with the agent in service', TIMEOUT, async () => {
    const { prepare } = intents({ RequireConfirmation: true })
    await hub.ask('upgrade', prepare, 'first')
    await until(() => hub.progress.some(({ action, Final }) => action === 'WaitingConfirmation' && !Final))
    expect(hub.progress.at(-1)).toMatchObject({ Step: 'E4c', TaskUID: prepare.TaskUID })
    expect(await node.fixture.starts()).toEqual([OLD])
    const socket = controlSocket(node.fixture.config)
    expect(await askEdgehub(socket, { verb: 'status' })).toMatchObject({
      data: { waiting: [prepare.HistoryID], session: { state: 'open' } },
    })
    expect(await askEdgehub(socket, { verb: 'confirm' })).toMatchObject({ done: true })
    expect(await hub.answer(prepare)).toMatchObject({ Value: 'prepared' })
    expect(await askEdgehub(socket, { verb: 'confirm' })).toMatchObject({ done: false })
    await hub.ask('cancel', { ...prepare, IntentSeq: 5 })
  })

  it('ends a wait for a confirmation that nobody gives, for a reason of its own', TIMEOUT, async () => {
    const { prepare } = intents({ RequireConfirmation: true })
    const Timeouts = { ...prepare.Timeouts, confirmSeconds: 1 }
    expect(await hub.ask('upgrade', { ...prepare, Timeouts })).toMatchObject({
      Value: 'refused',
      Code: 'ConfirmTimeout',
    })
    expect((await node.view(prepare.HistoryID))?.result?.Outcome).toBe('FailedBeforeChange')
  })

  it('keeps two tasks prepared beside each other; the slower one is prepared anew', TIMEOUT, async () => {
    const [first, second] = [intents(), intents()]
    await hub.ask('upgrade', first.prepare)
    await hub.ask('upgrade', second.prepare)
    await hub.ask('proceed', second.proceed, 'first')
    await until(() => hub.resultOf(second.id) !== undefined)
    expect(hub.resultOf(second.id)).toMatchObject({ Outcome: 'Succeeded', RunningVersion: NEW })
    const late = { ...first.proceed, Epoch: second.proceed.Epoch + 1 }
    expect(await hub.ask('proceed', late)).toMatchObject({ Value: 'refused', Code: 'PreparedStale' })
    expect((await node.view(first.id))?.phase).toBe('prepared')
    await hub.ask('cancel', { ...first.prepare, IntentSeq: 3 })
  })

  it(
    'upgrades once although everything comes many times, in any order, over sessions that break (F10, F11, F12)',
    TIMEOUT,
    async () => {
      const { prepare, proceed, id } = intents({ Version: NEXT })
      Object.assign(proceed, { Epoch: 50 })
      const cancel = { ...proceed, IntentSeq: 9 }
      // A permission that overtakes its prepare permits nothing.
      expect(await hub.ask('proceed', proceed)).toMatchObject({ Code: 'PreparedStale' })
      repeat(5, 'upgrade', prepare)
      expect(await hub.answer(prepare)).toMatchObject({ Value: 'prepared' })
      await dropSession()
      Object.assign(hub.manners, { losesAnswers: true, storesFrames: false })
      const again = { ...proceed, IntentSeq: 3 }
      repeat(5, 'proceed', again)
      repeat(2, 'upgrade', prepare)
      repeat(2, 'proceed', proceed)
      await vi.waitUntil(async () => (await node.view(id))?.pastStop, POLL)
      await dropSession()
      expect(await hub.ask('cancel', cancel)).toMatchObject({ Value: 'tooLate' })
      repeat(3, 'proceed', again)
      await until(() => hub.resultOf(id) !== undefined)
      await vi.waitUntil(async () => (await node.view(id))?.phase === 'ended', POLL)
      expect(await node.spooled()).toBe(1)
      Object.assign(hub.manners, { losesAnswers: false, storesFrames: true })
      await dropSession()
      await vi.waitUntil(async () => (await node.spooled()) === 0, POLL)
      const told = hub.results.filter(({ HistoryID }) => HistoryID === id)
      expect(new Set(told.map((result) => JSON.stringify(result))).size).toBe(1)
      expect(told[0]).toMatchObject({ Outcome: 'Succeeded', RunningVersion: NEXT })
      expect(await node.fixture.starts()).toEqual([OLD, NEW, NEXT])
      const refused = hub.answers.filter(({ Task, IntentSeq }) => Task === proceed.Task && IntentSeq < 3)
      expect(new Set(refused.map(({ Value }) => Value))).toEqual(
        new Set(['refused', 'accepted', 'prepared', 'stale']),
      )
    },
  )
})
