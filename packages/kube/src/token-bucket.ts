import type { Clock } from '@upgrade-hub/core'

/** Lets `perSecond` through on average, `burst` at once. */
export class TokenBucket {
  readonly #clock: Clock
  readonly #perMs: number
  readonly #burst: number
  #tokens: number
  #at: number

  constructor(clock: Clock, rate: { perSecond: number; burst: number }) {
    this.#clock = clock
    this.#perMs = rate.perSecond / 1000
    this.#burst = rate.burst
    this.#tokens = rate.burst
    this.#at = clock.monotonic()
  }

  /** Takes a token, now or from the future, and says how many ms to wait for it. */
  reserve(): number {
    const now = this.#clock.monotonic()
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs) - 1
    this.#at = now
    return this.#tokens >= 0 ? 0 : Math.ceil(-this.#tokens / this.#perMs)
  }
}
