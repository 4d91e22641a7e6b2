import { type BackoffPolicy, backoffMs, type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import { LIMITS, OPERATION, type Result, taskResource } from '@upgrade-hub/protocol'
import type { PostOutcome, Spool, SpooledResult } from '@upgrade-hub/upgrader'

const RETRY: BackoffPolicy = { baseMs: 1_000, maxMs: 300_000 }
/** An updater may spool a result without telling us. */
const LOOK_EVERY_MS = 30_000

export interface ResultOptions {
  readonly spool: Spool
  /** `POST /nodeupgrade`, once. */
  readonly post: (result: Result, signal: AbortSignal) => Promise<PostOutcome>
  /** A frame of the session; false when there is none. */
  readonly send: (operation: string, resource: string, content: Result) => boolean
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Delivers the spooled results, oldest first, until the hub has stored each or refused it for good: by HTTPS, and over
 * the session when that fails.
 */
export class ResultLoop {
  readonly #options: ResultOptions
  #stored = new Map<string, () => void>()
  #wake = Promise.withResolvers<void>()

  constructor(options: ResultOptions) {
    this.#options = options
  }

  /** There may be something new to deliver, or a new way to do it: do not wait for the back-off. */
  poke(): void {
    this.#wake.resolve()
  }

  /** The hub has stored this result. */
  async onStored(id: string): Promise<void> {
    await this.#options.spool.remove(id)
    this.#stored.get(id)?.()
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers()
      const outcome = await this.#deliverOldest(signal).catch((error: unknown) => retryLater(error))
      if (outcome?.kind === 'retry') {
        this.#options.log.warn({ why: outcome.why }, 'a result is not delivered yet')
        await this.#rest(waitOf(outcome, failures++), signal)
      } else {
        failures = 0
        if (!outcome) await this.#rest(LOOK_EVERY_MS, signal)
      }
    }
  }

  /** What became of the oldest result; undefined when there is none. */
  async #deliverOldest(signal: AbortSignal): Promise<PostOutcome | undefined> {
    const next = await this.#options.spool.oldest()
    if (!next) return undefined
    const outcome = await this.#deliver(next, signal)
    await this.#settle(next, outcome)
    return outcome
  }

  async #deliver({ id, result }: SpooledResult, signal: AbortSignal): Promise<PostOutcome> {
    const outcome = await this.#options.post(result, signal)
    if (outcome.kind !== 'retry') return outcome
    return (await this.#sendAndWait(id, result, signal)) ? { kind: 'stored' } : outcome
  }

  /** True when the hub says `stored` in time. */
  async #sendAndWait(id: string, result: Result, signal: AbortSignal): Promise<boolean> {
    const stored = new Promise<boolean>((resolve) => this.#stored.set(id, () => resolve(true)))
    try {
      const resource = taskResource(result.UpgradeID, result.NodeName)
      if (!this.#options.send(OPERATION.result, resource, result)) return false
      return await Promise.race([stored, this.#sleep(LIMITS.requestTimeoutMs, signal).then(() => false)])
    } finally {
      this.#stored.delete(id)
    }
  }

  async #settle({ id }: SpooledResult, outcome: PostOutcome): Promise<void> {
    const { spool, log } = this.#options
    if (outcome.kind === 'stored') {
      await spool.remove(id)
      log.info({ attempt: id }, 'result stored by the hub')
    } else if (outcome.kind === 'rejected') {
      await spool.reject(id, `${outcome.status} ${outcome.why}`)
      log.error(
        { attempt: id, status: outcome.status, why: outcome.why },
        'result refused by the hub, set aside',
      )
    }
  }

  async #rest(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    await Promise.race([this.#sleep(ms, AbortSignal.any([signal, woken.signal])), this.#wake.promise])
    woken.abort()
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#options.clock.sleep(ms, signal).catch(() => undefined)
  }
}

type NotYet = Extract<PostOutcome, { kind: 'retry' }>

function waitOf(outcome: NotYet, failures: number): number {
  return Math.max(outcome.afterMs ?? 0, backoffMs(RETRY, failures))
}

function retryLater(error: unknown): NotYet {
  return { kind: 'retry', why: messageOf(error) }
}
