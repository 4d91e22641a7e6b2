import type { Clock } from '@upgrade-hub/core'

/** What aborts a call: the caller's signal or the end of its time, whichever comes first. */
export interface Deadline {
  readonly signal: AbortSignal
  readonly expired: boolean
  remainingMs(): number
  /** Lets go of the timer and of the caller's signal. */
  end(): void
}

/** Starts the time of a call. By hand and not with AbortSignal.any, which costs more than the request. */
export function startDeadline(clock: Clock, ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController()
  const endsAt = clock.monotonic() + ms
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  else outer?.addEventListener('abort', abort, { once: true })
  let expired = false
  const timer = clock.after(ms, () => {
    expired = true
    controller.abort(new Error(`no answer within ${ms} ms`))
  })
  return {
    signal: controller.signal,
    get expired() {
      return expired
    },
    remainingMs: () => Math.max(0, endsAt - clock.monotonic()),
    end: () => {
      timer.cancel()
      outer?.removeEventListener('abort', abort)
    },
  }
}

/** Waits no longer than the signal lets it; what is waited for goes on by itself. */
export function bounded<T>(value: T | Promise<T>, signal: AbortSignal): T | Promise<T> {
  if (!(value instanceof Promise)) return value
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
