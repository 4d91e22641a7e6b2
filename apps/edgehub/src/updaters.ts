import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import type { AttemptStore, AttemptView } from '@upgrade-hub/upgrader'

/** Time for a slow device to start one; then one that ends without getting anywhere is started again ever later. */
const FIRST_WAIT_MS = 10_000
const MAX_WAIT_MS = 60_000
/** One that could not be started: its unit of a moment ago may still be on its way out. */
const FAILED_WAIT_MS = 1_000

interface Launch {
  readonly stage: string
  readonly tries: number
  readonly notBefore: number
}

/**
 * Sees to it that an attempt with work to do has a live updater. Starting one too many is harmless: the second ends by
 * itself.
 */
export class Updaters {
  readonly #store: AttemptStore
  readonly #launch: (id: string) => Promise<void>
  readonly #clock: Clock
  readonly #log: Logger
  #launches = new Map<string, Launch>()

  constructor(options: {
    store: AttemptStore
    launch: (id: string) => Promise<void>
    clock: Clock
    log: Logger
  }) {
    this.#store = options.store
    this.#launch = options.launch
    this.#clock = options.clock
    this.#log = options.log
  }

  async ensure(view: AttemptView): Promise<void> {
    if (!view.needsUpdater) return void this.#launches.delete(view.id)
    if (!this.#isDue(view) || (await this.#store.isUpdaterAlive(view.id))) return
    this.#note(view, FIRST_WAIT_MS)
    try {
      await this.#launch(view.id)
    } catch (error) {
      this.#note(view, FAILED_WAIT_MS)
      this.#log.error(
        { attempt: view.id, error: messageOf(error) },
        'no updater could be started, trying again',
      )
    }
  }

  #isDue(view: AttemptView): boolean {
    const last = this.#launches.get(view.id)
    return last?.stage !== stageOf(view) || this.#clock.monotonic() >= last.notBefore
  }

  #note(view: AttemptView, firstMs: number): void {
    const last = this.#launches.get(view.id)
    const stage = stageOf(view)
    const tries = last?.stage === stage ? last.tries + 1 : 0
    const waitMs = Math.min(MAX_WAIT_MS, firstMs * 2 ** Math.min(tries, 10))
    this.#launches.set(view.id, { stage, tries, notBefore: this.#clock.monotonic() + waitMs })
  }
}

/** Changes when the updater got on, or when the hub wants something new. */
function stageOf(view: AttemptView): string {
  return `${view.lastSeq}/${view.answer?.IntentSeq ?? 0}`
}
