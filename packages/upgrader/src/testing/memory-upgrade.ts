import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Result } from '@upgrade-hub/protocol'
import { runAttempt } from '../attempt/run-attempt.ts'
import { isLockHeld } from '../host/lock.ts'
import { openSpool } from '../spool.ts'
import { openAttemptStore } from '../store/attempt-store.ts'
import { attemptPaths, nodeLock } from '../store/paths.ts'
import type { AttemptView } from '../types.ts'
import { type AgentKind, agentProgram } from './fake-agent.ts'
import type { FaultyDisk } from './faulty-disk.ts'
import { HastyClock, MemoryAgent } from './memory-agent.ts'
import { createNode, type NodeFixture, prepareFor } from './node-fixture.ts'
import { testPorts } from './run.ts'

const OLD = agentProgram('v1.0.0')
export const MEMORY_ID = 'job-1.1'
const MAX_RUNS = 12
const ELSEWHERE = '/nowhere'
const UNTOUCHED: readonly unknown[] = ['FailedBeforeChange', 'RefusedBeforeChange', 'Cancelled']

/** A node for upgrades in memory: a companion and a configuration, and no process at all. */
export function createMemoryNode(): Promise<NodeFixture> {
  return createNode({
    isStarted: false,
    component: (root) => ({
      companions: [join(root, 'bin/keadm')],
      state: { config: join(root, 'edgecore.yaml') },
    }),
  })
}

export interface MemoryUpgrade {
  readonly node: NodeFixture
  readonly disk: FaultyDisk
  /** The new agent. */
  readonly kind: AgentKind
  readonly clock?: HastyClock
  /** Called at every named point; `kill` ends the updater there, and nothing of it is done any more. */
  readonly at?: (point: string, kill: () => never) => void
  /** Called when an updater has ended. */
  readonly onUpdaterEnd?: () => void
}

/** How it is when everything is over. */
export interface MemoryEnd {
  readonly outcome: string
  /** What breaks an invariant, in words; empty when all hold. */
  readonly broken: readonly string[]
}

class Killed extends Error {}

/**
 * One upgrade in which only the disk is real: edgehub gives an updater to what needs one and permits what is prepared,
 * until there is nothing left to do.
 */
export async function upgradeInMemory(upgrade: MemoryUpgrade): Promise<MemoryEnd> {
  const { node, disk, kind, clock = new HastyClock(), at, onUpdaterEnd } = upgrade
  const next = agentProgram('v1.1.0', kind)
  disk.root = ELSEWHERE
  reset(node)
  const agent = new MemoryAgent(() => readFileSync(node.component.binary, 'utf8'))
  await agent.start()
  const problems = new Set<string>()
  disk.onChange = () => {
    const now = existsSync(node.component.binary) ? readFileSync(node.component.binary, 'utf8') : ''
    if (now !== OLD && now !== next) problems.add('I4: for a moment the path had no whole agent')
  }
  const kill = () => {
    disk.isDead = agent.isFrozen = true
    throw new Killed('killed')
  }
  const { ports, posted } = testPorts(next, {
    clock,
    service: () => agent,
    at: async (point) => {
      await Promise.resolve()
      at?.(point, kill)
    },
  })
  const store = openAttemptStore(node.config, clock)
  let prepare = prepareFor({ Image: 'host/team/edge' })
  for (let run = 0, seq = 2; run < MAX_RUNS; run++) {
    disk.root = ELSEWHERE
    // A hub says what it wants until it is answered.
    if ((await store.attempt(MEMORY_ID))?.answer?.Code === 'PreparedStale')
      prepare = { ...prepare, IntentSeq: seq++ }
    await store.accept(prepare)
    const view = await store.attempt(MEMORY_ID)
    if (view?.phase === 'prepared') {
      const permit = { epoch: seq, nodeUID: 'node-uid', intentSeq: seq++, validForSeconds: 60 }
      await store.permit(MEMORY_ID, permit)
    } else if (!view?.needsUpdater) break
    disk.root = node.root
    await runAttempt({ config: node.config, id: MEMORY_ID, ports }).catch((error: Error) => {
      if (disk.isDead) return
      if (!('code' in error)) problems.add(`a fault of ours: ${error.stack}`)
      if (agent.running === undefined) problems.add(`no agent after ${error.message}`)
    })
    disk.isDead = agent.isFrozen = false
    onUpdaterEnd?.()
    bury(node)
  }
  disk.root = ELSEWHERE
  const view = await store.attempt(MEMORY_ID)
  const broken = await judge(node, { view, agent, posted })
  return { outcome: view?.result?.Outcome ?? 'none', broken: [...problems, ...broken] }
}

function reset({ root, component }: NodeFixture): void {
  for (const folder of ['state', 'etc', 'bin']) rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, 'bin'))
  writeFileSync(component.binary, OLD, { mode: 0o755 })
  writeFileSync(join(root, 'edgecore.yaml'), 'a: 1')
}

/** The updater was a process that has ended: what it holds is held by nobody. */
function bury({ config }: NodeFixture): void {
  for (const lock of [attemptPaths(config, MEMORY_ID).owner, nodeLock(config)]) {
    if (existsSync(lock))
      writeFileSync(lock, readFileSync(lock, 'utf8').replace(/"boot":"/, '"boot":"ended-'))
  }
}

interface Found {
  readonly view: AttemptView | undefined
  readonly agent: MemoryAgent
  readonly posted: readonly Result[]
}

async function judge(node: NodeFixture, { view, agent, posted }: Found): Promise<readonly string[]> {
  const outcome = view?.result?.Outcome
  const installed = readFileSync(node.component.binary, 'utf8')
  const isTold = posted.length > 0 || (await openSpool(node.config).size()) > 0 || UNTOUCHED.includes(outcome)
  const isTrue =
    outcome === 'StateUnreadable'
      ? installed.includes(`KubeEdge ${view?.result?.RunningVersion}"`)
      : (installed === OLD) !== (outcome === 'Succeeded')
  const rules: readonly [boolean, string][] = [
    [view?.phase === 'ended', `it does not end: ${view?.step}`],
    [agent.running === installed, 'I4: the agent that is installed does not run'],
    [isTrue, `I5: ${outcome} is not what is installed`],
    [outcome !== 'RollbackFailed' && outcome !== undefined, `the outcome is ${outcome}`],
    [isTold, 'I1: the result is lost'],
    [!(await isLockHeld(nodeLock(node.config))), 'the lock is still held'],
  ]
  return rules.filter(([holds]) => !holds).map(([, text]) => text)
}
