/** A rate with a burst, on a monotonic clock in ms. Costs three numbers, so every session can have one. */
export class TokenBucket {
  readonly #perMs: number
  readonly #burst: number
  #tokens: number
  #at: number

  constructor(perSecond: number, burst: number, now: number) {
    this.#perMs = perSecond / 1000
    this.#burst = burst
    this.#tokens = burst
    this.#at = now
  }

  /** True and one token less; false when there is none. */
  take(now: number): boolean {
    this.#refill(now)
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }

  /** Ms until the next `take` can succeed. */
  waitMs(now: number): number {
    this.#refill(now)
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs)
  }

  isFull(now: number): boolean {
    this.#refill(now)
    return this.#tokens === this.#burst
  }

  #refill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs)
    this.#at = now
  }
}
