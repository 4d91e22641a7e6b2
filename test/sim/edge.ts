import type { Answer, Outcome, Prepare, Proceed, TaskRef } from '@upgrade-hub/protocol'
import type { SimApi } from './api.ts'
import type { World } from './world.ts'

/** What fate has in store for the upgrade of a node. */
export type Fate =
  | 'fine'
  | 'checkFailed'
  | 'pullFailed'
  | 'healthFailed'
  | 'rollbackFailed'
  | 'otherDigest'
  | 'busyOnce'
  | 'staleOnce'
  | 'failsOnce'
  /** Says that it succeeded and runs the old version. */
  | 'liar'

interface Attempt {
  readonly task: TaskRef
  seq: number
  answer: Answer | undefined
  step: 'preparing' | 'prepared' | 'backingUp' | 'stopped' | 'ended' | 'dead'
  until: number
}

export interface SimResult {
  readonly HistoryID: string
  readonly TaskUID: string
  readonly UpgradeID: string
  readonly Outcome: Outcome
  readonly Code: string
  readonly FromVersion: string
  readonly ToVersion: string
  readonly RunningVersion: string
  readonly Reason: string
}

export interface EdgeLink {
  /** Over the session; may be lost, doubled, late. */
  answer(edge: SimEdge, answer: Answer): void
  /** Over HTTP; `done` says whether it is known to be stored. */
  post(edge: SimEdge, result: SimResult, done: (final: boolean) => void): void
  connected(edge: SimEdge): void
}

/**
 * A node with its edgehub and updater: what is durable survives a crash, timers do not. It keeps the rules of the protocol: one
 * answer per intent, no stop without a valid permission of this boot, epochs that only go up.
 */
export class SimEdge {
  readonly name: string
  readonly nodeUID: string
  online = true
  version: string
  readonly fate: Fate
  /** Every swap that ever happened, as `taskUID.attempt`. */
  readonly swaps: string[] = []
  /** Results that the hub said it has stored. */
  readonly acknowledged: SimResult[] = []
  /** Never comes back: its results stay with it. */
  gone = false
  readonly #world: World
  readonly #api: SimApi
  readonly #link: EdgeLink
  readonly #attempts = new Map<string, Attempt>()
  readonly #spool: SimResult[] = []
  #epoch = 0
  #boot = 0
  #refusedOnce = false
  #posting = false
  #reports = 0

  constructor(
    world: World,
    api: SimApi,
    link: EdgeLink,
    facts: { name: string; nodeUID: string; version: string; fate: Fate },
  ) {
    this.#world = world
    this.#api = api
    this.#link = link
    this.name = facts.name
    this.nodeUID = facts.nodeUID
    this.version = facts.version
    this.fate = facts.fate
  }

  get undelivered(): number {
    return this.#spool.length
  }

  /** The network to the node comes and goes; what runs on the node goes on. */
  setOnline(online: boolean): void {
    if (this.gone || this.online === online) return
    this.online = online
    this.#world.say(`${this.name} ${online ? 'online' : 'offline'}`)
    if (online) this.#link.connected(this)
    if (online) this.deliver()
    this.#reportReady(online, this.#world.random.int(500, 40_000))
  }

  /** kill -9 of everything on the node, and back after a while. */
  crash(): void {
    if (this.gone) return
    this.#boot += 1
    this.online = false
    this.#world.say(`${this.name} crashed`)
    this.#world.after(this.#world.random.int(1_000, 20_000), () => this.#start())
  }

  prepare(message: Prepare): void {
    const attempt = this.#enter(message)
    if (!attempt) return
    if (attempt.step === 'ended' || attempt.step === 'stopped') return
    attempt.step = 'preparing'
    attempt.until = this.#world.now + this.#world.random.int(500, 90_000)
    this.#continue(attempt, message.Version)
  }

  proceed(message: Proceed, version: string): void {
    const attempt = this.#enter(message)
    if (!attempt) return
    if (message.NodeUID !== this.nodeUID) return this.#refuse(attempt, 'NodeReplaced')
    if (message.Epoch < this.#epoch) return this.#refuse(attempt, 'StaleEpoch')
    if (attempt.step !== 'prepared') return this.#refuse(attempt, 'PreparedStale')
    if (!this.#refusedOnce && (this.fate === 'busyOnce' || this.fate === 'staleOnce')) {
      this.#refusedOnce = true
      if (this.fate === 'staleOnce') attempt.step = 'preparing'
      return this.#refuse(attempt, this.fate === 'busyOnce' ? 'Busy' : 'PreparedStale')
    }
    this.#epoch = message.Epoch
    attempt.step = 'backingUp'
    attempt.until = this.#world.now + message.ValidForSeconds * 1000
    this.#later(this.#world.random.int(200, 20_000), () => this.#stopAgent(attempt, version))
  }

  cancel(message: TaskRef): void {
    const known = this.#attempts.get(keyOf(message))
    const attempt = this.#enter(message)
    if (!attempt) return
    if (!known) attempt.step = 'dead'
    const tooLate = attempt.step === 'stopped' || attempt.step === 'ended'
    if (!tooLate) attempt.step = 'dead'
    this.#reply(attempt, known ? (tooLate ? 'tooLate' : 'done') : 'tombstoned')
  }

  /** Sends what waits in the spool, again and again until it is known to be stored. */
  deliver(): void {
    const [oldest] = this.#spool
    if (!oldest || this.#posting || !this.online) return
    this.#posting = true
    this.#link.post(this, oldest, (final) => {
      this.#posting = false
      if (final && this.#spool[0] === oldest) {
        this.#spool.shift()
        this.acknowledged.push(oldest)
      }
      this.#world.after(this.#world.random.int(500, 15_000), () => this.deliver())
    })
  }

  /** The attempt, if the intent is to be evaluated; a known intent gets the answer that it got before. */
  #enter(message: TaskRef): Attempt | undefined {
    const key = keyOf(message)
    const known = this.#attempts.get(key)
    if (known && message.IntentSeq < known.seq) return undefined
    if (known && message.IntentSeq === known.seq) {
      if (known.answer) this.#send(known.answer)
      return undefined
    }
    if (known?.step === 'dead') {
      known.seq = message.IntentSeq
      this.#reply(known, 'tombstoned')
      return undefined
    }
    const attempt: Attempt = known ?? {
      task: message,
      seq: 0,
      answer: undefined,
      step: 'preparing',
      until: 0,
    }
    attempt.seq = message.IntentSeq
    attempt.answer = undefined
    this.#attempts.set(key, attempt)
    return attempt
  }

  #continue(attempt: Attempt, version: string): void {
    this.#later(attempt.until - this.#world.now, () => {
      if (attempt.step !== 'preparing') return
      if (this.fate === 'checkFailed') return this.#refuse(attempt, 'CheckFailed')
      if (this.fate === 'pullFailed') return this.#refuse(attempt, 'PullFailed')
      if (this.version === version) return this.#refuse(attempt, 'AlreadyAtVersion')
      attempt.step = 'prepared'
      const digest = (this.fate === 'otherDigest' ? 'b' : 'a').repeat(64)
      this.#reply(attempt, 'prepared', { IndexDigest: `sha256:${digest}`, FromVersion: this.version })
    })
  }

  /** E6: the permission is looked at for the last time. */
  #stopAgent(attempt: Attempt, version: string): void {
    if (attempt.step !== 'backingUp') return
    if (this.#world.now > attempt.until) {
      attempt.step = 'prepared'
      return this.#refuse(attempt, 'PermissionExpired')
    }
    attempt.step = 'stopped'
    this.swaps.push(keyOf(attempt.task))
    this.#world.say(`${this.name} swaps for ${keyOf(attempt.task)}`)
    this.#reportReady(false, this.#world.random.int(1_000, 60_000))
    attempt.until = this.#world.now + this.#world.random.int(2_000, 60_000)
    this.#later(attempt.until - this.#world.now, () => this.#end(attempt, version))
  }

  #end(attempt: Attempt, version: string): void {
    if (attempt.step !== 'stopped') return
    attempt.step = 'ended'
    const from = this.version
    const fate = this.fate === 'failsOnce' && this.swaps.length === 1 ? 'healthFailed' : this.fate
    const [outcome, code] = ENDS[fate] ?? (['Succeeded', 'Upgraded'] as const)
    if (outcome === 'Succeeded' && this.fate !== 'liar') this.version = version
    this.#reportReady(outcome !== 'RollbackFailed', this.#world.random.int(500, 20_000))
    this.#world.say(`${this.name} ends ${keyOf(attempt.task)}: ${outcome}`)
    this.#reply(attempt, 'done', { Code: code })
    this.#spool.push({
      UpgradeID: '',
      HistoryID: `${attempt.task.Task}.${attempt.task.Attempt}`,
      TaskUID: attempt.task.TaskUID,
      Outcome: outcome,
      Code: code,
      FromVersion: from,
      ToVersion: version,
      RunningVersion: this.version,
      Reason: '',
    })
    this.deliver()
  }

  /** After a crash: what was stopped goes on; what was only permitted needs a new permission. */
  #start(): void {
    this.online = true
    for (const attempt of this.#attempts.values()) {
      const version = this.#wanted(attempt)
      if (attempt.step === 'preparing') this.#continue(attempt, version)
      if (attempt.step === 'stopped')
        this.#later(this.#world.random.int(500, 20_000), () => this.#end(attempt, version))
      if (attempt.step === 'backingUp') {
        attempt.step = 'prepared'
        attempt.seq -= 1
      }
    }
    this.#posting = false
    this.#reportReady(true, this.#world.random.int(500, 20_000))
    this.#link.connected(this)
    this.deliver()
  }

  /** The journal on disk says it; here the task says it, which never changes. */
  #wanted({ task }: Attempt): string {
    return this.#api.get('task', task.Task)?.spec.version ?? 'v1.1.0'
  }

  #refuse(attempt: Attempt, code: string): void {
    this.#reply(attempt, 'refused', { Code: code, Reason: `${code} on ${this.name}` })
  }

  #reply(attempt: Attempt, value: Answer['Value'], more: Partial<Answer> = {}): void {
    const { Task, TaskUID, Attempt } = attempt.task
    attempt.answer = {
      Task,
      TaskUID,
      Attempt,
      IntentSeq: attempt.seq,
      Value: value,
      Code: '',
      Reason: '',
      ...more,
    }
    this.#send(attempt.answer)
  }

  #send(answer: Answer): void {
    if (this.online) this.#link.answer(this, answer)
  }

  /** Timers of this boot. */
  #later(ms: number, run: () => void): void {
    const boot = this.#boot
    this.#world.after(ms, () => {
      if (boot === this.#boot && !this.gone) run()
    })
  }

  /** What the Node comes to say, by its kubelet or, after a while of silence, without it. */
  #reportReady(ready: boolean, ms: number): void {
    const report = ++this.#reports
    this.#world.after(ms, () => {
      // What was to be said before the newest is no longer true.
      if (report !== this.#reports) return
      const node = this.#api.get('node', this.name)
      if (node?.metadata.uid !== this.nodeUID) return
      const conditions = [{ type: 'Ready', status: ready && !this.gone ? 'True' : 'False' }]
      const nodeInfo = { kubeletVersion: `v1.28.6-kubeedge-${this.version}` }
      this.#api.patch('node', this.name, { status: { conditions, nodeInfo } }, { status: true })
    })
  }
}

const ENDS: Partial<Record<Fate, readonly [Outcome, string]>> = {
  healthFailed: ['RolledBack', 'HealthFailed'],
  rollbackFailed: ['RollbackFailed', 'RollbackFailed'],
}

function keyOf({ TaskUID, Attempt }: TaskRef): string {
  return `${TaskUID}.${Attempt}`
}
