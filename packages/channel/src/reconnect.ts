import { type BackoffPolicy, backoffMs } from '@upgrade-hub/core'
import { CLOSE, LIMITS } from '@upgrade-hub/protocol'

/** How one try to hold a session ended. */
export interface TryEnd {
  readonly code: number
  readonly reason: string
  /** How long it was open, 0 when it never was. */
  readonly openMs: number
  /** What the hub asked for: `goAway`, or Retry-After of a refused handshake. */
  readonly retryAfterMs?: number
}

const POLICY: BackoffPolicy = { baseMs: LIMITS.reconnectBaseMs, maxMs: LIMITS.reconnectMaxMs }
/** A session that was open this long was a good one. */
const STABLE_MS = 60_000
/** Ends that say "something is wrong with you": trying again at once would only fight. */
const UNWELCOME: ReadonlySet<number> = new Set([
  CLOSE.policy,
  CLOSE.unsupportedPeer,
  CLOSE.superseded,
  CLOSE.tooFast,
  CLOSE.revoked,
])
const UNWELCOME_FLOOR_MS = 10_000
/** A hub may not send an edge away for longer than this. */
const MAX_RETRY_AFTER_MS = 300_000

/**
 * How long to wait before the next try, and its number since the last good session. Full jitter, so that the edges of a
 * hub that restarts come back one by one; what the hub asked for is waited at least, at most twice.
 */
export function planReconnect(
  end: TryEnd,
  attempt: number,
  random: () => number,
): { waitMs: number; attempt: number } {
  const tries = end.openMs >= STABLE_MS ? 0 : attempt
  const asked = Math.min(end.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
  const floor = Math.max(asked, UNWELCOME.has(end.code) ? UNWELCOME_FLOOR_MS : 0)
  const spread = Math.round(random() * floor)
  return { waitMs: Math.max(floor + spread, backoffMs(POLICY, tries, random)), attempt: tries + 1 }
}
