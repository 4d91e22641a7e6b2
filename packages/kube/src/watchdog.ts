import type { Clock, Timer } from '@upgrade-hub/core'

/** Aborts an attempt that says nothing for too long. Feeding it is cheap: one timer looks again when it fires. */
export class Watchdog {
  readonly #clock: Clock
  readonly #onSilence: (silentMs: number) => void
  #limitMs: number
  #fedAt: number
  #timer: Timer

  constructor(clock: Clock, limitMs: number, onSilence: (silentMs: number) => void) {
    this.#clock = clock
    this.#limitMs = limitMs
    this.#onSilence = onSilence
    this.#fedAt = clock.monotonic()
    this.#timer = this.#arm(limitMs)
  }

  feed(): void {
    this.#fedAt = this.#clock.monotonic()
  }

  /** From now on this much silence is allowed. */
  relimit(limitMs: number): void {
    this.#limitMs = limitMs
    this.feed()
    this.#timer.cancel()
    this.#timer = this.#arm(limitMs)
  }

  stop(): void {
    this.#timer.cancel()
  }

  #arm(ms: number): Timer {
    return this.#clock.after(ms, () => {
      const silentMs = this.#clock.monotonic() - this.#fedAt
      if (silentMs >= this.#limitMs) this.#onSilence(silentMs)
      else this.#timer = this.#arm(this.#limitMs - silentMs)
    })
  }
}
