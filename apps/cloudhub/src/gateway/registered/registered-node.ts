import type { EdgeSession } from '@upgrade-hub/channel'
import { backoffMs, type Clock, type Logger, messageOf, type Timer } from '@upgrade-hub/core'
import type { SlimNode } from '@upgrade-hub/rollout'
import { areStored, factsOf, GONE_AFTER_MS, type NodeFacts, storedFacts } from './facts.ts'
import type { NodeApi } from './node-api.ts'

export interface RegisteredNodeOptions {
  readonly name: string
  readonly api: NodeApi
  /** The node as the cache has it. */
  readonly cached: () => SlimNode | undefined
  /** Called when the node has been away long enough to be forgotten here. */
  readonly onGone: () => void
  readonly clock: Clock
  readonly log: Logger
}

type Session = Pick<EdgeSession, 'hello' | 'probe'>

const LEASE_EVERY_MS = 15_000
/** A crowd that comes at once renews its leases over this time. */
const LEASE_SPREAD_MS = 5_000
const RETRY = { baseMs: 1_000, maxMs: 30_000 }

/** One node without a kubelet while its edge is, or was lately, connected here: its Ready, its version, its Lease. */
export class RegisteredNode {
  readonly #options: RegisteredNodeOptions
  #session: Session | undefined
  #written: NodeFacts | undefined
  #leaseAt = Number.NEGATIVE_INFINITY
  #leaseTimer: Timer | undefined
  #retryTimer: Timer | undefined
  #goneTimer: Timer | undefined
  #isReporting = false
  #isDirty = false
  #tries = 0

  constructor(options: RegisteredNodeOptions) {
    this.#options = options
  }

  opened(session: Session): void {
    this.#session = session
    this.#goneTimer?.cancel()
    this.report()
    const sinceMs = this.#options.clock.monotonic() - this.#leaseAt
    this.#renewIn(sinceMs >= LEASE_EVERY_MS ? Math.random() * LEASE_SPREAD_MS : LEASE_EVERY_MS - sinceMs)
  }

  closed(session: Session): void {
    if (this.#session !== session) return
    this.stop()
    this.#goneTimer = this.#options.clock.after(GONE_AFTER_MS, () => void this.#gone())
  }

  /** Brings the Node up to date with the session; a call while one runs makes it run once more. */
  report(): void {
    this.#isDirty = true
    if (!this.#isReporting) void this.#reportAll()
  }

  /** Writes nothing more. */
  stop(): void {
    this.#session = undefined
    for (const timer of [this.#leaseTimer, this.#retryTimer, this.#goneTimer]) timer?.cancel()
  }

  async #reportAll(): Promise<void> {
    const { clock, log, name } = this.#options
    this.#isReporting = true
    try {
      while (this.#isDirty && this.#session) {
        this.#isDirty = false
        await this.#reportOnce(this.#session)
      }
      this.#tries = 0
    } catch (error) {
      log.warn({ node: name, error: messageOf(error) }, 'the state of a node cannot be reported now')
      this.#retryTimer = clock.after(RETRY.baseMs + backoffMs(RETRY, this.#tries++), () => this.report())
    } finally {
      this.#isReporting = false
    }
  }

  async #reportOnce(session: Session): Promise<void> {
    const { api, name, cached, log } = this.#options
    this.#written ??= await this.#readFacts()
    if (areStored(factsOf(session.hello, session.probe, this.#written), this.#written, cached())) return
    // Somebody else may have written in between: a sweep that took this node for gone just before it came back.
    this.#written = await this.#readFacts()
    const facts = factsOf(session.hello, session.probe, this.#written)
    if (areStored(facts, this.#written, undefined)) return
    if (await api.report(name, facts, this.#written)) this.#written = facts
    else log.warn({ node: name }, 'the Node is gone; it is made again at the next session of its edge')
  }

  async #readFacts(): Promise<NodeFacts | undefined> {
    const node = await this.#options.api.find(this.#options.name)
    return node && storedFacts(node)
  }

  #renewIn(ms: number): void {
    this.#leaseTimer?.cancel()
    this.#leaseTimer = this.#options.clock.after(ms, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    const { api, name, cached, clock, log } = this.#options
    const uid = cached()?.uid
    this.#renewIn(LEASE_EVERY_MS)
    // Whatever the cache says otherwise by now is put right; nothing is written where it agrees.
    this.report()
    if (uid === undefined) return
    try {
      await api.renewLease({ name, uid })
      this.#leaseAt = clock.monotonic()
    } catch (error) {
      log.warn({ node: name, error: messageOf(error) }, 'the lease of a node is not renewed')
    }
  }

  async #gone(): Promise<void> {
    const { api, name, onGone, log } = this.#options
    try {
      await api.reportGone(name)
      this.#written = undefined
    } catch (error) {
      // The sweep of any replica will find it.
      log.warn({ node: name, error: messageOf(error) }, 'a node that is gone cannot be reported now')
    }
    // An edge that came back while it was being reported is here again, and the Node does not say so yet.
    if (this.#session) this.report()
    else onGone()
  }
}
