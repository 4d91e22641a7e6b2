import type { Clock } from '@upgrade-hub/core'
import { TokenBucket } from './token-bucket.ts'

/** Handshakes of one node a second, sustained and at once: a reconnect loop of one must not cost the others. */
const CONNECTS_PER_SECOND = 1
const CONNECT_BURST = 10

/** The rate at which one node may open sessions. Remembers only nodes that connected lately. */
export class ConnectRate {
  readonly #clock: Clock
  #buckets = new Map<string, TokenBucket>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  allows(nodeName: string): boolean {
    const now = this.#clock.monotonic()
    const bucket = this.#buckets.get(nodeName) ?? new TokenBucket(CONNECTS_PER_SECOND, CONNECT_BURST, now)
    this.#buckets.set(nodeName, bucket)
    return bucket.take(now)
  }

  sweep(): void {
    const now = this.#clock.monotonic()
    for (const [node, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(node)
  }
}
