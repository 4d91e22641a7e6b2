import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@upgrade-hub/core'
import { createService, openAttemptStore, probeVersion } from '@upgrade-hub/upgrader'
import { agentProgram, prepareFor } from '@upgrade-hub/upgrader/testing'
import { vi } from 'vitest'
import { EdgeNode, NEW, OLD } from '../edgehub/edge-node.ts'
import { type FakeHub, until } from '../edgehub/fake-hub.ts'
import { type Cell, expectedOutcome, isSupervised, type Victim } from './points.ts'

const EDGEHUB = [fileURLToPath(new URL('edgehub-main.ts', import.meta.url))]
const POLL = { interval: 30, timeout: 60_000 }

export interface Lane {
  readonly hub: FakeHub
  readonly registry: string
  readonly image: string
}

export interface Row {
  readonly outcome: string
  readonly starts: readonly string[]
  /** What breaks an invariant, in words; empty when all hold. */
  readonly broken: readonly string[]
}

let tasks = 0

/** One upgrade on one node by real processes, in which the victim is killed at each point and edgehub is there again after it. */
export async function runCell(cell: Cell, lane: Lane): Promise<Row> {
  const { hub } = lane
  const node = await EdgeNode.create(hub, lane.registry)
  try {
    const serial = ++tasks
    const prepare = prepareFor({
      Task: `kill-${serial}`,
      TaskUID: `uid-${serial}`,
      Image: lane.image,
      RequireConfirmation: cell.points.prepare?.startsWith('E4c') ?? false,
    })
    const { Task, TaskUID, Attempt, NodeUID, HistoryID: id } = prepare
    await plant(node, cell.points.prepare)
    node.start(EDGEHUB)
    await hub.ask('upgrade', prepare, 'first')
    if (cell.points.prepare !== undefined) await strike(node, id, cell.victim, hub)
    await vi.waitUntil(async () => (await comeOn(node, id)) === 'prepared', POLL)
    await plant(node, cell.points.proceed)
    const proceed = { Task, TaskUID, Attempt, IntentSeq: 2, NodeUID, Epoch: serial, ValidForSeconds: 60 }
    await hub.ask('proceed', proceed, 'first')
    await strike(node, id, cell.victim, hub)
    await vi.waitUntil(async () => (await comeOn(node, id)) === 'ended', POLL)
    await until(() => hub.resultOf(id) !== undefined)
    await vi.waitUntil(async () => (await node.spooled()) === 0, POLL)
    if (isSupervised(cell)) await createService(node.fixture.component, systemClock).start()
    return await judge(cell, node, hub, id)
  } finally {
    await node.remove()
  }
}

function plant(node: EdgeNode, point: string | undefined): Promise<void> {
  return point === undefined ? Promise.resolve() : writeFile(`${node.configPath}.fault`, point)
}

/** A person confirms what waits for it. */
async function comeOn(node: EdgeNode, id: string): Promise<string | undefined> {
  const store = openAttemptStore(node.fixture.config)
  await store.confirm(id)
  const view = await store.attempt(id)
  return view && (view.needsUpdater || (await store.isUpdaterAlive(id)) ? undefined : view.phase)
}

async function strike(node: EdgeNode, id: string, victim: Victim, hub: FakeHub): Promise<void> {
  const updater = await vi.waitUntil(() => stoppedUpdater(node, id), POLL)
  const endsUpdater = victim === 'updater' || victim === 'both'
  if (victim === 'edgehub' || victim === 'both') {
    const sessions = hub.hellos.length
    await node.end('SIGKILL')
    if (endsUpdater) process.kill(updater, 'SIGKILL')
    node.start(EDGEHUB)
    await until(() => hub.hellos.length > sessions)
  }
  if (victim === 'agent') await killAgent(node)
  if (victim === 'updater') process.kill(updater, 'SIGKILL')
  if (!endsUpdater) process.kill(updater, 'SIGCONT')
}

/** The pid of the updater once it stands still at its point. */
async function stoppedUpdater(node: EdgeNode, id: string): Promise<number | undefined> {
  await openAttemptStore(node.fixture.config).confirm(id)
  const owner = join(node.fixture.config.paths.state, 'attempts', id, 'owner')
  const pid = await readFile(owner, 'utf8').then(pidIn, () => undefined)
  if (pid === undefined) return undefined
  return (await stateOf(pid)) === 'T' ? pid : undefined
}

async function killAgent(node: EdgeNode): Promise<void> {
  const { service } = node.fixture.component
  if (service.manager !== 'process' || !existsSync(service.pidFile)) return
  const pid = pidIn(await readFile(service.pidFile, 'utf8'))
  // At some points there is no agent any more.
  if (await isGone(pid)) return
  process.kill(pid, 'SIGKILL')
  await vi.waitUntil(() => isGone(pid), POLL)
}

async function isGone(pid: number): Promise<boolean> {
  const state = await stateOf(pid)
  return state === undefined || state === 'Z'
}

/** One letter. @see proc_pid_stat(5) */
async function stateOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat?.slice(stat.lastIndexOf(')') + 2)[0]
}

function pidIn(text: string): number {
  return (JSON.parse(text) as { pid: number }).pid
}

async function judge(cell: Cell, node: EdgeNode, hub: FakeHub, id: string): Promise<Row> {
  const { config, component } = node.fixture
  const results = hub.results.filter(({ HistoryID }) => HistoryID === id)
  const [result] = results
  const installed = sha256(await readFile(component.binary))
  const whole = [agentProgram(OLD), agentProgram(NEW, cell.kind)].map(sha256)
  const [version, { running }, starts] = await Promise.all([
    probeVersion(component),
    createService(component, systemClock).state(),
    node.fixture.starts(),
  ])
  const staged = await readdir(join(config.paths.etc, 'upgrade')).catch(() => [])
  const beside = await readdir(dirname(component.binary))
  const newStarts = starts.filter((one) => one === NEW).length
  const outcome = result?.Outcome ?? 'none'
  const rules: readonly [boolean, string][] = [
    [outcome === expectedOutcome(cell), `it ended ${outcome}: ${result?.Reason}`],
    [whole.includes(installed), 'I4: the agent is neither the old nor the new program'],
    [running, 'I4: no agent runs'],
    [version === (outcome === 'Succeeded' ? NEW : OLD), `I5: ${version} is installed after ${outcome}`],
    [result?.RunningVersion === version, `I5: the result says ${result?.RunningVersion}`],
    [new Set(results.map(({ Outcome }) => Outcome)).size === 1, 'I6: the results differ'],
    [newStarts <= 2, `I2: the new agent was started ${newStarts} times`],
    [staged.length === 0, `I7: staging left: ${staged.join(' ')}`],
    [beside.length === 1, `I7: beside the agent: ${beside.join(' ')}`],
    [!existsSync(join(config.paths.etc, 'idempotency_record')), 'the lock is still there'],
  ]
  return { outcome, starts, broken: rules.filter(([holds]) => !holds).map(([, text]) => text) }
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}
