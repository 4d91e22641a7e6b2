import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 20

/**
 * Waits for a fact instead of for a while: the first answer of `look` that is neither undefined nor false. A `look`
 * that throws counts as "not yet"; after the deadline its error, or `what`, is thrown.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 20_000,
): Promise<T> {
  const end = performance.now() + deadlineMs
  let last: unknown
  while (true) {
    try {
      const seen = await look()
      if (seen !== undefined && seen !== false) return seen
      last = undefined
    } catch (error) {
      last = error
    }
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`, { cause: last })
    await delay(POLL_MS)
  }
}
