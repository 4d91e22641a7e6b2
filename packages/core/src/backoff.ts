import type { Clock } from './clock.ts'

/** Exponential back-off with full jitter: spreads a crowd, never waits longer than `maxMs`. */
export interface BackoffPolicy {
  readonly baseMs: number
  readonly maxMs: number
}

/**
 * The wait before try `attempt` (0 is the first retry), in ms.
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoffMs(
  policy: BackoffPolicy,
  attempt: number,
  random: () => number = Math.random,
): number {
  const ceiling = Math.min(policy.maxMs, policy.baseMs * 2 ** Math.min(attempt, 30))
  return Math.round(random() * ceiling)
}

/** Sleeps the back-off of `attempt`; rejects when the signal aborts. */
export function backoffSleep(
  clock: Clock,
  policy: BackoffPolicy,
  attempt: number,
  signal?: AbortSignal,
): Promise<void> {
  return clock.sleep(backoffMs(policy, attempt), signal)
}
