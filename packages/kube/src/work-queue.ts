import {
  type BackoffPolicy,
  backoffMs,
  type Clock,
  HubError,
  invariant,
  type Logger,
  type Metrics,
  messageOf,
  noMetrics,
  type Timer,
} from '@upgrade-hub/core'
import { DelayHeap } from './delay-heap.ts'
import { TokenBucket } from './token-bucket.ts'

/** What a reconcile may ask for: look at the key again after this long. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number
}

export interface WorkQueueOptions {
  readonly name: string
  readonly workers: number
  /** Called with at most one run per key at a time. A throw is logged and the key tried again with back-off. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult | void>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: Metrics
  readonly backoff?: BackoffPolicy
}

const BACKOFF: BackoffPolicy = { baseMs: 250, maxMs: 60_000 }
/** All failing keys of a queue together are tried again no faster than this. */
const RETRIES = { perSecond: 10, burst: 100 }

/**
 * Keys that need a look. A key that waits is held once however often it is added; added while it runs, it runs once more
 * afterwards. Order is first in, first out.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #clock: Clock
  readonly #backoff: BackoffPolicy
  readonly #ready = new Set<string>()
  readonly #running = new Set<string>()
  readonly #again = new Set<string>()
  readonly #delayed = new DelayHeap()
  readonly #failures = new Map<string, number>()
  readonly #retries: TokenBucket
  readonly #meters: ReturnType<typeof metersOf>
  // One iterator for ever: a fresh one would walk over the holes that taken keys leave at the front of the set.
  #next = this.#ready.values()
  #isWaking = false
  #timer: Timer | undefined
  #signal: AbortSignal | undefined
  #idle: (() => void)[] = []

  constructor(options: WorkQueueOptions) {
    invariant(options.workers >= 1, 'a queue needs a worker')
    this.#options = options
    this.#clock = options.clock
    this.#backoff = options.backoff ?? BACKOFF
    this.#retries = new TokenBucket(options.clock, RETRIES)
    this.#meters = metersOf(options.metrics ?? noMetrics)
  }

  /** Keys that wait for a worker. */
  get size(): number {
    return this.#ready.size
  }

  add(key: string): void {
    if (this.#running.has(key)) this.#again.add(key)
    else this.#ready.add(key)
    this.#meters.depth.set(this.#ready.size, this.#labels)
    this.#wake()
  }

  /** Adds the key after `ms`; of several delays of one key the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (ms <= 0) this.add(key)
    else if (this.#delayed.add(key, this.#clock.monotonic() + ms)) this.#arm()
  }

  /** Works until the signal aborts; resolves when the last reconcile has ended. */
  async run(signal: AbortSignal): Promise<void> {
    invariant(!this.#signal, `queue ${this.#options.name} runs already`)
    if (signal.aborted) return
    this.#signal = signal
    this.#arm()
    this.#wake()
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    this.#timer?.cancel()
    await this.#settled(() => this.#running.size === 0)
    this.#signal = undefined
  }

  /** Resolves when no key waits or runs; delayed keys do not count. */
  idle(): Promise<void> {
    return this.#settled(() => this.#running.size === 0 && this.#ready.size === 0)
  }

  get #labels(): { queue: string } {
    return { queue: this.#options.name }
  }

  async #settled(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Not within the caller of add: an informer tells of changes one by one and shall not be read in between. */
  #wake(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    queueMicrotask(() => {
      this.#isWaking = false
      this.#dispatch()
    })
  }

  #dispatch(): void {
    const signal = this.#signal
    if (!signal || signal.aborted) return
    while (this.#running.size < this.#options.workers && this.#ready.size > 0) {
      const key = this.#take()
      this.#running.add(key)
      void this.#work(key, signal)
    }
  }

  #take(): string {
    let next = this.#next.next()
    if (next.done) {
      this.#next = this.#ready.values()
      next = this.#next.next()
    }
    const key = next.value ?? ''
    this.#ready.delete(key)
    return key
  }

  async #work(key: string, signal: AbortSignal): Promise<void> {
    const startedAt = this.#clock.monotonic()
    let result = 'done'
    try {
      const { requeueAfterMs } = (await this.#options.reconcile(key, signal)) ?? {}
      this.#failures.delete(key)
      if (requeueAfterMs !== undefined) this.addAfter(key, requeueAfterMs)
    } catch (error) {
      result = signal.aborted ? 'stopped' : 'failed'
      if (!signal.aborted) this.#retry(key, error)
    }
    this.#meters.seconds.observe((this.#clock.monotonic() - startedAt) / 1000, this.#labels)
    this.#meters.runs.inc({ ...this.#labels, result })
    this.#finish(key)
  }

  #finish(key: string): void {
    this.#running.delete(key)
    if (this.#again.delete(key)) this.#ready.add(key)
    this.#meters.depth.set(this.#ready.size, this.#labels)
    this.#wake()
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  #retry(key: string, error: unknown): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    const waitMs = Math.max(1, backoffMs(this.#backoff, failures), this.#retries.reserve())
    const code = error instanceof HubError ? error.code : 'UNEXPECTED'
    this.#options.log.warn(
      { key, code, reason: messageOf(error), failures: failures + 1, waitMs },
      'reconcile failed',
    )
    this.addAfter(key, waitMs)
  }

  #arm(): void {
    this.#timer?.cancel()
    const at = this.#delayed.nextAt()
    if (at === undefined || !this.#signal || this.#signal.aborted) return
    this.#timer = this.#clock.after(at - this.#clock.monotonic(), () => {
      for (const key of this.#delayed.takeDue(this.#clock.monotonic())) this.add(key)
      this.#arm()
    })
  }
}

function metersOf(metrics: Metrics) {
  const labels = ['queue']
  return {
    depth: metrics.gauge('upgradehub_queue_depth', 'Keys that wait for a worker.', labels),
    seconds: metrics.histogram('upgradehub_queue_reconcile_seconds', 'Time of one reconcile.', labels),
    runs: metrics.counter('upgradehub_queue_reconciles_total', 'Reconciles by result.', [
      ...labels,
      'result',
    ]),
  }
}
