import type { Clock } from '@upgrade-hub/core'
import { OciError } from './errors.ts'
import type { PullLimits } from './settings.ts'

/** Counts bytes and aborts when fewer than the minimum rate came within a window. */
export class RateGuard {
  #bytes = 0
  #timer: { cancel(): void }

  constructor(clock: Clock, limits: PullLimits, abort: (error: OciError) => void) {
    const least = (limits.minBytesPerSecond * limits.rateWindowMs) / 1000
    const look = () => {
      if (this.#bytes < least) {
        abort(
          new OciError('OCI_TOO_SLOW', `slower than ${limits.minBytesPerSecond} bytes a second`, {
            retry: 'backoff',
          }),
        )
        return
      }
      this.#bytes = 0
      this.#timer = clock.after(limits.rateWindowMs, look)
    }
    this.#timer = clock.after(limits.rateWindowMs, look)
  }

  count(bytes: number): void {
    this.#bytes += bytes
  }

  end(): void {
    this.#timer.cancel()
  }
}
