import type { Clock } from '@upgrade-hub/core'

/** A `Date` header says the second; the true instant lies anywhere in it. */
const DATE_RESOLUTION_MS = 1_000
/** Servers format the date a little ahead of or behind its second. */
const SLACK_MS = 50
/** Two clocks drift apart by at most this much per ms: 200 parts in a million. */
const DRIFT = 0.0002

/**
 * The API server's clock as seen from here. Every answer bounds the difference between the two clocks from both sides;
 * the bounds are intersected, so many answers together tell it far better than the one second of a header. It is kept
 * against the monotonic clock: a jump of the local wall clock does not move it.
 */
export class ServerClock {
  readonly #clock: Clock
  #bounds: { low: number; high: number; at: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Learns from one answer; `sentAt` is the monotonic time before its request was sent. */
  observe(dateHeader: string, sentAt: number): void {
    const date = Date.parse(dateHeader)
    if (Number.isNaN(date)) return
    const now = this.#clock.monotonic()
    const low = date - SLACK_MS - now
    const high = date + DATE_RESOLUTION_MS + SLACK_MS - sentAt
    const old = this.#bounds
    const drift = old ? (now - old.at) * DRIFT : 0
    const tighter = old
      ? { low: Math.max(low, old.low - drift), high: Math.min(high, old.high + drift), at: now }
      : { low, high, at: now }
    // Bounds that exclude each other mean that a clock was set: only the newest says anything.
    this.#bounds = tighter.low <= tighter.high ? tighter : { low, high, at: now }
  }

  /** API-server time in ms since the epoch; local wall time until the first answer. */
  now(): number {
    if (!this.#bounds) return this.#clock.now()
    return Math.round(this.#clock.monotonic() + (this.#bounds.low + this.#bounds.high) / 2)
  }

  /** Server minus local wall clock in ms; 0 until the first answer. */
  offsetMs(): number {
    return this.now() - this.#clock.now()
  }
}
