import { backoffMs, type Clock, type Logger, messageOf, type Timer } from '@upgrade-hub/core'
import type { EdgeMessage } from '../edge-status/decision.ts'
import type { StoredDecision } from './edge-writer.ts'
import { type Pace, phaseOf, progressDueAt } from './pace.ts'

export interface TaskReportsOptions {
  /** Stores a batch: one decision for each message. */
  readonly write: (messages: readonly EdgeMessage[]) => Promise<readonly StoredDecision[]>
  /** Called when nothing waits here any more. */
  readonly onIdle: () => void
  readonly clock: Clock
  readonly log: Logger
}

interface Waiting {
  readonly message: EdgeMessage
  readonly dueAt: number
  readonly settle?: PromiseWithResolvers<StoredDecision>
}

const RETRY = { baseMs: 1_000, maxMs: 30_000 }
/** An answer that cannot be stored for this long is given up: its intent is sent again, and so is the answer. */
const MAX_TRIES = 8
const MAX_WAITING = 32

/** What waits to be said of one task: progress gathers, an answer or a result takes all of it along in its one write. */
export class TaskReports {
  readonly #options: TaskReportsOptions
  #waiting: Waiting[] = []
  #phase = ''
  #pace: Pace
  #timer: Timer | undefined
  #isWriting = false
  #tries = 0

  constructor(options: TaskReportsOptions) {
    this.#options = options
    this.#pace = { phaseAt: options.clock.monotonic(), lastWriteAt: undefined }
  }

  /** Stores an answer or a result as soon as it can be; rejects when that is not possible now. */
  now(message: EdgeMessage): Promise<StoredDecision> {
    const settle = Promise.withResolvers<StoredDecision>()
    this.#push({ message, dueAt: 0, settle })
    return settle.promise
  }

  /** Stores an answer, trying again by itself. */
  soon(message: EdgeMessage): void {
    this.#push({ message, dueAt: 0 })
  }

  /** Stores progress, or an answer that is not the last word, when the pace allows it. */
  paced(message: EdgeMessage): void {
    const now = this.#options.clock.monotonic()
    this.#enterPhase(message, now)
    const isStepEnd = message.kind !== 'progress' || message.body.Final
    if (!isStepEnd) this.#waiting = this.#waiting.filter(({ message: other }) => !isRunning(other))
    this.#push({ message, dueAt: progressDueAt(this.#pace, { arrivedAt: now, isStepEnd }) })
  }

  /** Lets go of what waits; promises are rejected. */
  dispose(reason: Error): void {
    this.#timer?.cancel()
    for (const { settle } of this.#waiting) settle?.reject(reason)
    this.#waiting = []
  }

  #enterPhase(message: EdgeMessage, now: number): void {
    if (message.kind !== 'progress') return
    const phase = phaseOf(message.body.Attempt, message.body.Step)
    if (phase === this.#phase) return
    if (this.#phase !== '') this.#pace = { ...this.#pace, phaseAt: now }
    this.#phase = phase
  }

  #push(waiting: Waiting): void {
    this.#waiting.push(waiting)
    if (this.#waiting.length > MAX_WAITING) this.#drop()
    this.#schedule()
  }

  /** Progress can be told again by later progress; who waits for a promise is told to come again. */
  #drop(): void {
    const at = Math.max(
      0,
      this.#waiting.findIndex(({ message }) => message.kind === 'progress'),
    )
    const [dropped] = this.#waiting.splice(at, 1)
    dropped?.settle?.reject(new Error('too many reports of one task wait'))
  }

  #schedule(delayMs = 0): void {
    if (this.#isWriting) return
    this.#timer?.cancel()
    if (this.#waiting.length === 0) return this.#options.onIdle()
    const { clock } = this.#options
    const dueAt = Math.min(...this.#waiting.map((waiting) => waiting.dueAt))
    const waitMs = Math.max(delayMs, dueAt - clock.monotonic())
    if (waitMs > 0) this.#timer = clock.after(waitMs, () => void this.#flush())
    else void this.#flush()
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    this.#isWriting = true
    const delayMs = await this.#write(batch)
    this.#isWriting = false
    this.#schedule(delayMs)
  }

  /** Gives the time to wait before the next write. */
  async #write(batch: readonly Waiting[]): Promise<number> {
    try {
      const decisions = await this.#options.write(batch.map(({ message }) => message))
      this.#tries = 0
      this.#pace = { ...this.#pace, lastWriteAt: this.#options.clock.monotonic() }
      batch.forEach(({ settle }, i) => settle?.resolve(decisions[i] ?? { kind: 'already' }))
      return 0
    } catch (error) {
      return this.#afterFailure(batch, error)
    }
  }

  #afterFailure(batch: readonly Waiting[], error: unknown): number {
    for (const { settle } of batch) settle?.reject(error)
    const rest = batch.filter(({ settle }) => settle === undefined)
    this.#tries++
    const giveUp = this.#tries >= MAX_TRIES
    if (giveUp) this.#tries = 0
    if (!giveUp) this.#waiting = [...rest, ...this.#waiting].slice(-MAX_WAITING)
    this.#options.log.warn(
      { error: messageOf(error), giveUp, messages: batch.length },
      'reports are not stored yet',
    )
    return RETRY.baseMs + backoffMs(RETRY, this.#tries)
  }
}

function isRunning(message: EdgeMessage): boolean {
  return message.kind === 'progress' && !message.body.Final
}
