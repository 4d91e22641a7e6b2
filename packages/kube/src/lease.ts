import { microTime } from '@upgrade-hub/core'
import type { Lease } from './resources.ts'

export type LeaseSpec = NonNullable<Lease['spec']>

/** Who holds a lease, since which term, and when that was last said. */
export interface LeaseHolder {
  readonly identity: string
  readonly renewTime: string
  readonly transitions: number
  readonly durationMs: number
}

/** What stands in a lease; `defaultMs` where it names no duration. An empty identity: nobody holds it. */
export function holderOf(lease: Lease, defaultMs: number): LeaseHolder {
  const { holderIdentity, renewTime, leaseTransitions, leaseDurationSeconds } = lease.spec ?? {}
  return {
    identity: holderIdentity ?? '',
    renewTime: renewTime ?? '',
    transitions: leaseTransitions ?? 0,
    durationMs: leaseDurationSeconds ? leaseDurationSeconds * 1000 : defaultMs,
  }
}

/**
 * Watches a lease that somebody else holds. Its times are that replica's clock and say nothing here: it has run out when
 * it stood unchanged for its duration on our own monotonic clock.
 */
export class LeaseObserver {
  #seen: { text: string; at: number } | undefined

  /** True when the lease may be taken, as seen at monotonic time `now`. */
  isFree(holder: LeaseHolder, now: number): boolean {
    if (holder.identity === '') return true
    const text = `${holder.identity} ${holder.transitions} ${holder.renewTime}`
    if (this.#seen?.text !== text) this.#seen = { text, at: now }
    return now - this.#seen.at >= holder.durationMs
  }
}

/** The spec of a term's start. Every term has a higher number of transitions than all before it: it is the epoch. */
export function termSpec(
  term: { identity: string; transitions: number; leaseMs: number },
  nowMs: number,
): LeaseSpec {
  return {
    holderIdentity: term.identity,
    leaseDurationSeconds: Math.ceil(term.leaseMs / 1000),
    acquireTime: microTime(nowMs),
    renewTime: microTime(nowMs),
    leaseTransitions: term.transitions,
  }
}

/** The spec that lets go: the next replica need not wait for the lease to run out. An empty holder would be refused. */
export function releasedSpec(lease: Lease, nowMs: number): LeaseSpec {
  const { holderIdentity: _, ...spec } = lease.spec ?? {}
  return { ...spec, leaseDurationSeconds: 1, renewTime: microTime(nowMs) }
}
