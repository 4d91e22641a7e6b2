import type { Clock } from '@upgrade-hub/core'

export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

interface Bucket {
  tokens: number
  at: number
}

/** More keys than this at once are an attack: the oldest is forgotten, so memory stays put. */
const MAX_KEYS = 10_000

/** A rate for each key (an address, a node), in memory that cannot grow without bound. */
export class RateLimiter {
  readonly #rate: Rate
  readonly #clock: Clock
  readonly #buckets = new Map<string, Bucket>()

  constructor(rate: Rate, clock: Clock) {
    this.#rate = rate
    this.#clock = clock
  }

  /** True when one more is allowed, which it then was. */
  take(key = ''): boolean {
    const bucket = this.#refilled(key)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }

  /** True when `take` would be, without taking. */
  allows(key = ''): boolean {
    return this.#refilled(key).tokens >= 1
  }

  get size(): number {
    return this.#buckets.size
  }

  #refilled(key: string): Bucket {
    const now = this.#clock.monotonic()
    const { perSecond, burst } = this.#rate
    const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond)
    bucket.at = now
    // Re-inserting keeps the map in the order of last use.
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    if (this.#buckets.size > MAX_KEYS) this.#forgetOldest()
    return bucket
  }

  #forgetOldest(): void {
    const oldest = this.#buckets.keys().next()
    if (!oldest.done) this.#buckets.delete(oldest.value)
  }
}
