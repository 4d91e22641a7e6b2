import { setTimeout as delay } from 'node:timers/promises'

/** A timer that was set; cancelling it twice is harmless. */
export interface Timer {
  cancel(): void
}

/**
 * The only source of time. `now` is wall time in ms since the epoch and may jump; `monotonic` is ms that only go up and
 * is what every deadline is counted on. Tests pass a FakeClock (`@upgrade-hub/core/testing`).
 */
export interface Clock {
  now(): number
  monotonic(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `run` once after `ms`. Does not keep the process alive. */
  after(ms: number, run: () => void): Timer
}

/** Longer delays overflow a 32-bit timer and would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await delay(Math.min(Math.max(0, ms), MAX_TIMER_MS), undefined, signal ? { signal } : {})
  },
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(0, ms), MAX_TIMER_MS))
    timer.unref()
    return { cancel: () => clearTimeout(timer) }
  },
}

/** RFC 3339 in UTC with whole seconds, as Kubernetes' `metav1.Time`. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** RFC 3339 with six fraction digits, as Kubernetes' `metav1.MicroTime` (Lease, Event) demands exactly. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace(/Z$/, '000Z')
}
