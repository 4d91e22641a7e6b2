import type { Clock } from '@upgrade-hub/core'

/** Waits `ms`; false when the signal ended the wait. For loops that run until they are told to stop. */
export async function slept(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal)
  } catch {
    return false
  }
  return !signal.aborted
}
