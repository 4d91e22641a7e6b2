import { dial, type EdgeDialer } from '@upgrade-hub/channel'
import { type Clock, historyId, type Logger, rfc3339 } from '@upgrade-hub/core'
import {
  type Answer,
  type Frame,
  type Hello,
  OPERATION,
  type Outcome,
  type Prepare,
  type Proceed,
  type Result,
  type TaskRef,
  taskResource,
  upgradeStatusOf,
} from '@upgrade-hub/protocol'

/** How a simulated edge behaves; times in ms. */
export interface EdgeBehaviour {
  readonly prepareMs: number
  readonly upgradeMs: number
  /** What it says of its clock. Default UTC. */
  readonly timeZone?: string
  /** How every attempt ends, or each by its number. */
  readonly outcome: Outcome | ((attempt: number) => Outcome)
}

export interface SimulatedEdgeOptions {
  readonly url: string
  readonly nodeName: string
  readonly machineID: string
  /** The version that its agent runs at first. */
  readonly version: string
  readonly tls: { ca: string; cert: string; key: string }
  readonly behaviour: EdgeBehaviour
  /** Called when the agent runs another version, before the result is sent: what a kubelet would report. */
  onVersion(version: string): Promise<void>
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

interface Attempt {
  readonly prepare: Prepare
  last: Answer
  result?: Result
}

const INDEX_DIGEST = `sha256:${'0'.repeat(64)}`

/**
 * An edge without a node: it speaks the real channel and answers as edgehub does (once a task, attempt and intent; the
 * same answer on repeats; a result until it is stored), and touches nothing. For benches and tests only.
 */
export class SimulatedEdge {
  /** Swaps by history id: more than one is a broken promise of the hub. */
  readonly swaps = new Map<string, number>()
  readonly #options: SimulatedEdgeOptions
  readonly #attempts = new Map<string, Attempt>()
  readonly #dialer: EdgeDialer
  #version: string

  constructor(options: SimulatedEdgeOptions) {
    this.#options = options
    this.#version = options.version
    this.#dialer = dial({
      url: options.url,
      nodeName: options.nodeName,
      tls: async () => options.tls,
      hello: async () => this.#hello(),
      onWelcome: () => this.#sendResults(),
      onFrame: (frame) => this.#onFrame(frame),
      probe: () => ({ version: this.#version, bootID: 'boot-1' }),
      clock: options.clock,
      log: options.log,
      signal: options.signal,
    })
  }

  get connected(): boolean {
    return this.#dialer.connected
  }

  get nodeName(): string {
    return this.#options.nodeName
  }

  get version(): string {
    return this.#version
  }

  run(): Promise<void> {
    return this.#dialer.run()
  }

  #hello(): Hello {
    const open = [...this.#attempts.values()].filter((attempt) => !attempt.result)
    return {
      protocol: 1,
      capabilities: [],
      node: {
        bootID: 'boot-1',
        machineID: this.#options.machineID,
        timeZone: this.#options.behaviour.timeZone ?? 'UTC',
      },
      edgeVersion: '0.1.0',
      hubVersion: '',
      platform: { os: 'linux', arch: 'amd64' },
      probe: { version: this.#version, bootID: 'boot-1' },
      open: open.map(({ prepare }) => ({
        task: prepare.Task,
        taskUID: prepare.TaskUID,
        attempt: prepare.Attempt,
        step: 'E4',
      })),
      undelivered: 0,
    }
  }

  #onFrame(frame: Frame): void {
    if (frame.operation === OPERATION.prepare) this.#prepare(frame.content as Prepare)
    if (frame.operation === OPERATION.proceed) this.#proceed(frame.content as Proceed)
    if (frame.operation === OPERATION.cancel) this.#cancel(frame.content as TaskRef)
    if (frame.operation === OPERATION.stored)
      this.#attempts.delete((frame.content as { HistoryID: string }).HistoryID)
  }

  #prepare(prepare: Prepare): void {
    const known = this.#attempts.get(prepare.HistoryID)
    if (known) return this.#answer(known, known.last)
    const attempt: Attempt = { prepare, last: answerTo(prepare, 'accepted') }
    this.#attempts.set(prepare.HistoryID, attempt)
    this.#answer(attempt, attempt.last)
    this.#options.clock.after(this.#options.behaviour.prepareMs, () => {
      const platform = { os: 'linux', arch: 'amd64' }
      const found = { IndexDigest: INDEX_DIGEST, FromVersion: this.#version, Platform: platform }
      this.#answer(attempt, { ...answerTo(prepare, 'prepared'), ...found })
    })
  }

  #proceed(proceed: Proceed): void {
    const attempt = this.#attempts.get(historyId(proceed.Task, proceed.Attempt))
    if (!attempt) return
    if (attempt.last.IntentSeq === proceed.IntentSeq) return this.#answer(attempt, attempt.last)
    this.#answer(attempt, answerTo(proceed, 'accepted'))
    this.#options.clock.after(this.#options.behaviour.upgradeMs, () => void this.#swap(attempt))
  }

  #cancel(ref: TaskRef): void {
    const attempt = this.#attempts.get(historyId(ref.Task, ref.Attempt))
    const prepare = attempt?.prepare ?? ({ UpgradeID: ref.Task } as Prepare)
    const value = attempt ? (this.swaps.has(prepare.HistoryID) ? 'tooLate' : 'done') : 'tombstoned'
    this.#answer(attempt ?? { prepare, last: answerTo(ref, value) }, answerTo(ref, value))
  }

  async #swap(attempt: Attempt): Promise<void> {
    const { HistoryID, Version } = attempt.prepare
    const from = this.#version
    this.swaps.set(HistoryID, (this.swaps.get(HistoryID) ?? 0) + 1)
    const { outcome: said } = this.#options.behaviour
    const outcome = typeof said === 'function' ? said(attempt.prepare.Attempt) : said
    if (outcome === 'Succeeded') {
      this.#version = Version
      await this.#options.onVersion(Version)
    }
    attempt.result = {
      UpgradeID: attempt.prepare.UpgradeID,
      HistoryID,
      NodeName: this.#options.nodeName,
      FromVersion: from,
      ToVersion: Version,
      Status: upgradeStatusOf(outcome),
      Reason: outcome === 'Succeeded' ? '' : 'the simulated agent did not become healthy',
      Outcome: outcome,
      Code: outcome === 'Succeeded' ? 'Upgraded' : 'HealthFailed',
      FinishedAt: rfc3339(this.#options.clock.now()),
      RunningVersion: this.#version,
      TaskUID: attempt.prepare.TaskUID,
    }
    this.#sendResults()
  }

  #sendResults(): void {
    for (const { prepare, result } of this.#attempts.values()) {
      if (result) this.#dialer.send(OPERATION.result, this.#resource(prepare), result)
    }
  }

  #answer(attempt: Attempt, answer: Answer): void {
    attempt.last = answer
    this.#dialer.send(OPERATION.answer, this.#resource(attempt.prepare), answer)
  }

  #resource(prepare: Prepare): string {
    return taskResource(prepare.UpgradeID, this.#options.nodeName)
  }
}

function answerTo(ref: TaskRef, value: Answer['Value']): Answer {
  const { Task, TaskUID, Attempt, IntentSeq } = ref
  return { Task, TaskUID, Attempt, IntentSeq, Value: value, Code: '', Reason: '' }
}
