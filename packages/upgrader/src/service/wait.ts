import type { Clock } from '@upgrade-hub/core'

/** Looks every `everyMs` until it is true; false when that takes longer than `limitMs`. */
export async function waitUntil(
  clock: Clock,
  limitMs: number,
  everyMs: number,
  isTrue: () => Promise<boolean>,
): Promise<boolean> {
  const deadline = clock.monotonic() + limitMs
  for (;;) {
    if (await isTrue()) return true
    if (clock.monotonic() >= deadline) return false
    await clock.sleep(everyMs)
  }
}
