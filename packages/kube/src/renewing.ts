import type { Clock } from '@upgrade-hub/core'

/** A loaded value: when to fetch the next one, and when this one stops working (never, if absent). Both in ms. */
export interface Loaded<T> {
  readonly value: T
  readonly refreshInMs: number
  readonly expiresInMs?: number
}

/** Between two loads that failed or were asked for by a rejection, so that neither becomes a storm. */
const MIN_INTERVAL_MS = 5_000

/**
 * A value that ages: loaded once for any number of callers, refreshed in the background before it expires, kept while a
 * refresh fails and it still works.
 */
export class Renewing<T> {
  readonly #load: () => Promise<Loaded<T>>
  readonly #clock: Clock
  readonly #onRefreshError: (error: unknown) => void
  #current: { value: T; loadedAt: number; refreshAt: number; expiresAt: number } | undefined
  #loading: Promise<T> | undefined
  #failure: { error: unknown; until: number } | undefined

  constructor(options: {
    load: () => Promise<Loaded<T>>
    clock: Clock
    onRefreshError: (error: unknown) => void
  }) {
    this.#load = options.load
    this.#clock = options.clock
    this.#onRefreshError = options.onRefreshError
  }

  /** The value, loading it when there is none that works. @throws what the load threw */
  current(): T | Promise<T> {
    const now = this.#clock.monotonic()
    const current = this.#current
    if (!current || now >= current.expiresAt) return this.#refresh()
    if (now >= current.refreshAt) this.#refresh().catch(this.#onRefreshError)
    return current.value
  }

  /** Says that `used` was refused. True when another value can be had by asking again. */
  reject(used: T): boolean {
    const current = this.#current
    if (!current || current.value !== used) return true
    if (this.#clock.monotonic() - current.loadedAt < MIN_INTERVAL_MS) return false
    this.#current = undefined
    return true
  }

  async #refresh(): Promise<T> {
    if (this.#loading) return this.#loading
    if (this.#failure && this.#clock.monotonic() < this.#failure.until) throw this.#failure.error
    this.#loading = this.#loadOnce()
    try {
      return await this.#loading
    } catch (error) {
      this.#failure = { error, until: this.#clock.monotonic() + MIN_INTERVAL_MS }
      throw error
    } finally {
      this.#loading = undefined
    }
  }

  async #loadOnce(): Promise<T> {
    const { value, refreshInMs, expiresInMs } = await this.#load()
    const loadedAt = this.#clock.monotonic()
    this.#failure = undefined
    this.#current = {
      value,
      loadedAt,
      refreshAt: loadedAt + refreshInMs,
      expiresAt: loadedAt + (expiresInMs ?? Number.POSITIVE_INFINITY),
    }
    return value
  }
}
