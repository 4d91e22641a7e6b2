import { systemClock } from '@upgrade-hub/core'

/** Waits until the condition holds, looking often. Throws with `what` after 5 s. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 5_000,
): Promise<void> {
  const end = systemClock.monotonic() + limitMs
  while (!(await condition())) {
    if (systemClock.monotonic() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
    await systemClock.sleep(2)
  }
}
