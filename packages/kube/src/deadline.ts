import type { Clock, Timer } from '@upgrade-hub/core'

/**
 * What ends a call: the caller's signal or the end of its time, whichever comes first. By hand, because an AbortSignal
 * for each request would cost as much as the request.
 */
export class Deadline {
  /** Why the call was ended; undefined while it may run. */
  reason: unknown
  /** True when the time was over, false when the caller gave up. */
  expired = false
  readonly #clock: Clock
  readonly #endsAt: number
  readonly #timer: Timer
  readonly #outer: AbortSignal | undefined
  readonly #onOuter = () => this.#over(this.#outer?.reason)
  #listener: ((reason: unknown) => void) | undefined

  constructor(clock: Clock, ms: number, outer?: AbortSignal) {
    this.#clock = clock
    this.#endsAt = clock.monotonic() + ms
    this.#outer = outer
    this.#timer = clock.after(ms, () => {
      this.expired = this.reason === undefined
      this.#over(new Error(`no answer within ${ms} ms`))
    })
    if (outer?.aborted) this.#onOuter()
    else outer?.addEventListener('abort', this.#onOuter, { once: true })
  }

  get isOver(): boolean {
    return this.reason !== undefined
  }

  remainingMs(): number {
    return Math.max(0, this.#endsAt - this.#clock.monotonic())
  }

  /** Whom to tell; a call waits for one thing at a time, so the last listener replaces the one before. */
  onOver(listener: (reason: unknown) => void): void {
    this.#listener = listener
    if (this.isOver) listener(this.reason)
  }

  /** Waits for the value, but no longer than the deadline; what is waited for goes on by itself. */
  bound<T>(value: T | Promise<T>): T | Promise<T> {
    if (this.isOver) throw this.reason
    if (!(value instanceof Promise)) return value
    return new Promise((resolve, reject) => {
      this.onOver(reject)
      value.then(resolve, reject)
    })
  }

  /** Lets go of the timer and of the caller's signal. */
  end(): void {
    this.#listener = undefined
    this.#timer.cancel()
    this.#outer?.removeEventListener('abort', this.#onOuter)
  }

  #over(reason: unknown): void {
    this.reason ??= reason ?? new Error('the call was ended')
    this.#listener?.(this.reason)
  }
}
