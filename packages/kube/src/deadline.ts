import { EventEmitter } from 'node:events'
import type { Clock, Timer } from '@upgrade-hub/core'

/**
 * What ends a call: the caller's signal or the end of its time, whichever comes first. undici takes an emitter of `abort`
 * in the place of an AbortSignal, which would cost as much as the request itself.
 */
export class Deadline extends EventEmitter<{ abort: [] }> {
  /** Why the call was ended; undefined while it may run. */
  reason: unknown
  /** True when the time was over, false when the caller gave up. */
  expired = false
  readonly #clock: Clock
  readonly #endsAt: number
  readonly #timer: Timer
  readonly #outer: AbortSignal | undefined
  readonly #onOuter = () => this.#abort(this.#outer?.reason)

  constructor(clock: Clock, ms: number, outer?: AbortSignal) {
    super()
    this.#clock = clock
    this.#endsAt = clock.monotonic() + ms
    this.#outer = outer
    this.#timer = clock.after(ms, () => {
      this.expired = this.reason === undefined
      this.#abort(new Error(`no answer within ${ms} ms`))
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

  /** Waits for the value, but no longer than the deadline; what is waited for goes on by itself. */
  bound<T>(value: T | Promise<T>): T | Promise<T> {
    if (this.isOver) throw this.reason
    if (!(value instanceof Promise)) return value
    return new Promise((resolve, reject) => {
      this.once('abort', () => reject(this.reason as Error))
      value.then(resolve, reject)
    })
  }

  /** Lets go of the timer and of the caller's signal. */
  end(): void {
    this.#timer.cancel()
    this.#outer?.removeEventListener('abort', this.#onOuter)
  }

  #abort(reason: unknown): void {
    this.reason ??= reason ?? new Error('the call was ended')
    this.emit('abort')
  }
}
