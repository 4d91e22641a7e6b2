import { type Logger, messageOf } from '@upgrade-hub/core'
import type { Change } from '../store/history.ts'
import type { Store } from '../store/store.ts'

/** So many keys are worked off in one turn, so that requests come through in between. */
const KEYS_A_TURN = 200

/** What follows from a change, worked off key by key in the turns after its commit. */
export interface Reaction {
  /** The keys that a committed change makes to be looked at. */
  concerns(change: Change): Iterable<string>
  /** Looks at one key: level-triggered, so looking twice does no harm. */
  settle(key: string): void
}

/** Runs reactions: each key waits once however often it is asked for. */
export class Reactor {
  readonly #queue = new Set<string>()
  readonly #reaction: Reaction
  readonly #log: Logger
  #scheduled = false
  #stopped = false

  constructor(store: Store, reaction: Reaction, log: Logger) {
    this.#reaction = reaction
    this.#log = log
    store.onCommit((changes) => {
      for (const change of changes) for (const key of reaction.concerns(change)) this.#queue.add(key)
      this.#schedule()
    })
  }

  add(keys: Iterable<string>): void {
    for (const key of keys) this.#queue.add(key)
    this.#schedule()
  }

  stop(): void {
    this.#stopped = true
    this.#queue.clear()
  }

  #schedule(): void {
    if (this.#scheduled || this.#stopped || this.#queue.size === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#turn()
      this.#schedule()
    })
  }

  #turn(): void {
    for (const key of [...this.#queue].slice(0, KEYS_A_TURN)) {
      this.#queue.delete(key)
      try {
        if (!this.#stopped) this.#reaction.settle(key)
      } catch (error) {
        this.#log.error({ key, error: messageOf(error) }, 'cleaning up failed')
      }
    }
  }
}
