import { backoffSleep, type Clock } from '@upgrade-hub/core'
import type { OciError } from './errors.ts'
import { networkFailure } from './failures.ts'
import type { PullLimits } from './settings.ts'

const PAUSE = { baseMs: 500, maxMs: 10_000 }
/** A try that brought as much is worth another, however many there were: a bad link resets often. */
const PROGRESS_BYTES = 16 * 1024

export interface RetryOptions {
  readonly limits: PullLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Bytes that have arrived for good. */
  readonly progress?: () => number
}

/** Tries until it works, fails for good, or has brought nothing `limits.retries` times in a row. @throws OciError */
export async function retrying<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { limits, clock, signal, progress = () => 0 } = options
  for (let tries = 0; ; tries++) {
    const before = progress()
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      const failure: OciError = networkFailure(error)
      if (progress() - before >= PROGRESS_BYTES) tries = 0
      if (failure.retry === 'never' || tries >= limits.retries) throw failure
      if (failure.retryAfterMs !== undefined) await clock.sleep(failure.retryAfterMs, signal)
      await backoffSleep(clock, PAUSE, tries, signal)
    }
  }
}
