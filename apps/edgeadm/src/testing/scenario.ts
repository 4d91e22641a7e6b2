import { createHash } from 'node:crypto'
import { access, readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemClock } from '@upgrade-hub/core'
import type { Result } from '@upgrade-hub/protocol'
import { type AttemptStore, openAttemptStore, openSpool, probeVersion } from '@upgrade-hub/upgrader'
import { createService } from '@upgrade-hub/upgrader/attempt'
import {
  type AgentKind,
  agentProgram,
  createNode,
  type NodeFixture,
  prepareFor,
} from '@upgrade-hub/upgrader/testing'
import { type Ended, runEdgeadm } from './run-edgeadm.ts'

const OLD = 'v1.0.0'
export const NEW = 'v1.1.0'
const ID = 'job-1.1'
const MAX_RUNS = 5

export interface Faults {
  readonly prepare?: string
  readonly proceed?: string
}

export interface Scenario {
  readonly registry: string
  readonly image: string
  /** The new agent. */
  readonly kind: AgentKind
  /** Where the first updater of each half kills itself. */
  readonly faults: Faults
}

/** What is on the node when everything is over. */
export interface EndState {
  readonly outcome: Result['Outcome']
  readonly code: string | undefined
  readonly version: string
  readonly running: boolean
  readonly starts: readonly string[]
  readonly spooled: number
  /** What breaks an invariant, in words; empty when all hold. */
  readonly broken: readonly string[]
}

/** One upgrade on one real node by real processes, with a kill -9 in each half where one is asked for, and as many restarts as it takes. */
export async function runScenario(scenario: Scenario): Promise<EndState> {
  const node = await createNode({ version: OLD, registry: scenario.registry })
  try {
    const store = openAttemptStore(node.config)
    const checker = new Checker(node, scenario)
    await store.accept(
      prepareFor({
        Image: scenario.image,
        RequireConfirmation: scenario.faults.prepare?.startsWith('E4c') ?? false,
      }),
    )
    await runUntilRest(node, store, checker, scenario.faults.prepare)
    await store.permit(ID, { epoch: 1, nodeUID: 'node-uid', intentSeq: 2, validForSeconds: 120 })
    await runUntilRest(node, store, checker, scenario.faults.proceed)
    return await checker.endState(store)
  } finally {
    await node.remove()
  }
}

async function runUntilRest(
  node: NodeFixture,
  store: AttemptStore,
  checker: Checker,
  fault?: string,
): Promise<void> {
  for (let runs = 0; (await store.attempt(ID))?.needsUpdater; runs++) {
    if (runs === MAX_RUNS) throw new Error('the attempt does not come to rest')
    const run = runEdgeadm(
      ['attempt', 'run', '--config', node.configPath, '--id', ID],
      runs === 0 ? fault : undefined,
    )
    const confirming = confirmWhenAsked(store, run)
    checker.note(await run)
    await confirming
    await checker.checkPath()
  }
}

async function confirmWhenAsked(store: AttemptStore, run: Promise<Ended>): Promise<void> {
  let over = false
  void run.finally(() => (over = true))
  while (!over && !(await store.confirm(ID))) await systemClock.sleep(100)
}

class Checker {
  readonly #node: NodeFixture
  readonly #scenario: Scenario
  readonly #broken: string[] = []
  #killed = 0

  constructor(node: NodeFixture, scenario: Scenario) {
    this.#node = node
    this.#scenario = scenario
  }

  note({ signal, code, err }: Ended): void {
    if (signal === 'SIGKILL') this.#killed++
    else if (code === null || code >= 5) this.#broken.push(`edgeadm ended with ${code}: ${err.slice(-500)}`)
  }

  /** I4: at every instant the agent's path is a whole program, old or new. */
  async checkPath(): Promise<void> {
    const found = sha256(await readFile(this.#node.component.binary))
    const whole = [agentProgram(OLD), agentProgram(NEW, this.#scenario.kind)].map(sha256)
    if (!whole.includes(found)) this.#broken.push('I4: the agent is neither the old nor the new program')
  }

  async endState(store: AttemptStore): Promise<EndState> {
    const { component, config } = this.#node
    const result = (await store.attempt(ID))?.result
    const [version, { running }, starts, spooled] = await Promise.all([
      probeVersion(component),
      createService(component, systemClock).state(),
      this.#node.starts(),
      openSpool(config).size(),
    ])
    const end = { outcome: result?.Outcome, code: result?.Code, version, running, starts, spooled }
    return { ...end, broken: [...this.#broken, ...(await this.#check(end, result))] }
  }

  async #check(end: Omit<EndState, 'broken'>, result: Result | undefined): Promise<string[]> {
    const { config, component } = this.#node
    const left = await readdir(`${config.paths.etc}/upgrade`)
    const beside = await readdir(dirname(component.binary))
    const lock = await access(`${config.paths.etc}/idempotency_record`).then(
      () => true,
      () => false,
    )
    const newStarts = end.starts.filter((version) => version === NEW).length
    const rules: readonly [boolean, string][] = [
      [this.#killed === Object.keys(this.#scenario.faults).length, 'a fault point was not reached'],
      [end.running, 'I4: no agent runs'],
      [
        end.version === (end.outcome === 'Succeeded' ? NEW : OLD),
        `I5: ${end.version} runs after ${end.outcome}`,
      ],
      [result?.RunningVersion === end.version, `I5: the result says ${result?.RunningVersion}`],
      [newStarts <= 2, `I2: the new agent was started ${newStarts} times`],
      [end.spooled === 1, `I1: ${end.spooled} results in the spool`],
      [left.length === 0, `I7: staging left: ${left.join(' ')}`],
      [beside.length === 1, `I7: beside the agent: ${beside.join(' ')}`],
      [!lock, 'the lock is still there'],
    ]
    return rules.filter(([holds]) => !holds).map(([, text]) => text)
  }
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}
