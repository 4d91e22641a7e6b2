import { type Clock, invariant, type Logger, messageOf, microTime, type Timer } from '@upgrade-hub/core'
import type { KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import { holderOf, LeaseObserver, type LeaseSpec, releasedSpec, termSpec } from './lease.ts'
import { LEASES, type Lease } from './resources.ts'

export interface LeaderElectorOptions {
  readonly client: KubeClient
  readonly namespace: string
  readonly name: string
  /** Names this process in the lease. */
  readonly identity: string
  /** Others wait this long after the last renewal they saw. */
  readonly leaseMs?: number
  /** A leader that could not renew for this long stops; below `leaseMs`, so that it stops before another starts. */
  readonly renewMs?: number
  readonly retryMs?: number
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Runs while this process leads; must end when its signal aborts. `epoch` is higher than that of every leader before.
 * `letGo`: there was no leader before, or the last one ended its term in order: its `lead` had returned.
 */
export type Lead = (signal: AbortSignal, epoch: number, letGo: boolean) => Promise<void>

interface Term {
  readonly epoch: number
  /** Of the start of a term: nobody led before, or ended in order. */
  readonly letGo?: boolean
  readonly lease: Lease
  /** Monotonic time before the last successful write was sent. */
  readonly renewedAt: number
}

/** Timestamps of a replica whose clock is further off than this would mislead every reader. */
const MAX_CLOCK_OFFSET_MS = 5_000
const RELEASE_TIMEOUT_MS = 2_000
const JITTER = 0.2

/**
 * Leads while it holds a Lease. Two leaders at once stay possible for whoever does not look (a stopped process continues):
 * what must not be done twice is guarded by resourceVersions, and `isLeader` is checked before each effect.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #leaseMs: number
  readonly #renewMs: number
  readonly #retryMs: number
  readonly #clock: Clock
  readonly #observer = new LeaseObserver()
  #term: Term | undefined
  /** The start of a term whose write was not answered: it is ours if it stands in the lease. */
  #attempted: { renewTime: string; epoch: number; at: number } | undefined

  constructor(options: LeaderElectorOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#leaseMs = options.leaseMs ?? 15_000
    this.#renewMs = options.renewMs ?? 10_000
    this.#retryMs = options.retryMs ?? 2_000
    invariant(this.#retryMs < this.#renewMs && this.#renewMs < this.#leaseMs, 'retry < renew < lease')
  }

  /** Whether this process may act as the leader now: by its own monotonic clock, without asking anybody. */
  isLeader(): boolean {
    return this.#term !== undefined && this.#remainingMs(this.#term) > 0
  }

  /** Competes until the signal aborts; each time it wins, `lead` runs. Resolves after the lease was let go. */
  async run(signal: AbortSignal, lead: Lead): Promise<void> {
    while (!signal.aborted) {
      const term = await this.#acquire(signal)
      if (term && !signal.aborted) await this.#serve(signal, term, lead)
      if (signal.aborted) await this.#release()
      else await this.#pause(signal)
    }
  }

  async #acquire(signal: AbortSignal): Promise<Term | undefined> {
    try {
      const lease = await this.#read(signal)
      if (this.#isClockOff()) return undefined
      this.#term = this.#adopted(lease) ?? (await this.#take(lease, signal))
    } catch (error) {
      if (isConflict(error)) this.#attempted = undefined
      else if (!signal.aborted) this.#complain('the lease could not be taken', error)
    }
    return this.#term
  }

  async #serve(signal: AbortSignal, term: Term, lead: Lead): Promise<void> {
    const { log } = this.#options
    const serving = new AbortController()
    const stop = () => serving.abort(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    const renewing = this.#keepRenewing(serving)
    log.info({ epoch: term.epoch }, 'leading')
    try {
      await lead(serving.signal, term.epoch, term.letGo ?? false)
    } catch (error) {
      if (!serving.signal.aborted) this.#complain('leading failed', error)
    } finally {
      signal.removeEventListener('abort', stop)
      serving.abort(new Error('the term has ended'))
      await renewing
      await this.#release()
      log.info({ epoch: term.epoch, reason: messageOf(serving.signal.reason) }, 'not leading any more')
    }
  }

  /** Renews until serving ends, and ends it when the lease is lost or the renewals have failed for too long. */
  async #keepRenewing(serving: AbortController): Promise<void> {
    const expire = () => serving.abort(new Error('the lease was not renewed in time'))
    let expiry: Timer | undefined
    while (!serving.signal.aborted && this.#term) {
      expiry?.cancel()
      expiry = this.#clock.after(this.#remainingMs(this.#term), expire)
      await this.#pause(serving.signal)
      if (serving.signal.aborted) break
      if (!(await this.#renew(serving.signal))) serving.abort(new Error('the lease was lost'))
    }
    expiry?.cancel()
  }

  /** False when the lease is not ours any more; a failure that may pass is true. */
  async #renew(signal: AbortSignal): Promise<boolean> {
    const term = this.#term
    if (!term || this.#isClockOff()) return false
    try {
      const lease = (await this.#rewrite(term.lease, signal)) ?? (await this.#rewriteStored(term, signal))
      return lease !== undefined
    } catch (error) {
      if (!signal.aborted) this.#complain('the lease could not be renewed', error)
      return !(error instanceof KubeError && error.isNotFound)
    }
  }

  /** Somebody wrote the lease, maybe ourselves without hearing of it: it is still ours if our term stands in it. */
  async #rewriteStored(term: Term, signal: AbortSignal): Promise<Term | undefined> {
    const lease = await this.#read(signal)
    return lease && this.#isOurs(lease, term.epoch) ? this.#rewrite(lease, signal) : undefined
  }

  /** Undefined when the lease is not the stored one any more. */
  async #rewrite(lease: Lease, signal: AbortSignal): Promise<Term | undefined> {
    try {
      const renewTime = microTime(this.#options.client.serverNow())
      this.#term = await this.#write(lease, { ...lease.spec, renewTime }, signal)
      return this.#term
    } catch (error) {
      if (isConflict(error)) return undefined
      throw error
    }
  }

  async #take(lease: Lease | undefined, signal: AbortSignal): Promise<Term | undefined> {
    const holder = lease && holderOf(lease, this.#leaseMs)
    if (holder && !this.#observer.isFree(holder, this.#clock.monotonic())) return undefined
    const epoch = (holder?.transitions ?? 0) + 1
    const { identity, client } = this.#options
    const spec = termSpec({ identity, transitions: epoch, leaseMs: this.#leaseMs }, client.serverNow())
    this.#attempted = { renewTime: spec.renewTime ?? '', epoch, at: this.#clock.monotonic() }
    const term = await this.#write(lease, spec, signal)
    this.#attempted = undefined
    return { ...term, letGo: !holder?.identity }
  }

  #adopted(lease: Lease | undefined): Term | undefined {
    const attempted = this.#attempted
    this.#attempted = undefined
    if (!lease || !attempted || !this.#isOurs(lease, attempted.epoch)) return undefined
    if (lease.spec?.renewTime !== attempted.renewTime) return undefined
    const term = { epoch: attempted.epoch, lease, renewedAt: attempted.at }
    return this.#remainingMs(term) > 0 ? term : undefined
  }

  async #write(lease: Lease | undefined, spec: LeaseSpec, signal: AbortSignal): Promise<Term> {
    const { client, namespace, name } = this.#options
    const renewedAt = this.#clock.monotonic()
    const metadata = lease?.metadata ?? { name, namespace }
    const next: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
    const options = { namespace, timeoutMs: this.#renewMs / 2, maxTries: 1, signal }
    const stored = await (lease
      ? client.replace(LEASES, next, options)
      : client.create(LEASES, next, options))
    return { epoch: spec.leaseTransitions ?? 0, lease: stored, renewedAt }
  }

  async #read(signal?: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options
    const limits = signal ? { timeoutMs: this.#renewMs / 2, signal } : { timeoutMs: RELEASE_TIMEOUT_MS }
    try {
      return await client.get(LEASES, name, { namespace, maxTries: 1, ...limits })
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return undefined
      throw error
    }
  }

  /** Lets go of a term, also of one whose start was sent and not answered. */
  async #release(): Promise<void> {
    const epoch = this.#term?.epoch ?? this.#attempted?.epoch
    this.#term = undefined
    this.#attempted = undefined
    if (epoch === undefined) return
    const { client, namespace } = this.#options
    try {
      const lease = await this.#read()
      if (!lease || !this.#isOurs(lease, epoch)) return
      const spec = releasedSpec(lease, client.serverNow())
      await client.replace(
        LEASES,
        { ...lease, spec },
        { namespace, timeoutMs: RELEASE_TIMEOUT_MS, maxTries: 1 },
      )
    } catch (error) {
      this.#complain('the lease could not be let go, it runs out by itself', error)
    }
  }

  #isOurs(lease: Lease, epoch: number): boolean {
    const holder = holderOf(lease, this.#leaseMs)
    return holder.identity === this.#options.identity && holder.transitions === epoch
  }

  #isClockOff(): boolean {
    const offsetMs = this.#options.client.serverOffsetMs()
    if (Math.abs(offsetMs) <= MAX_CLOCK_OFFSET_MS) return false
    this.#options.log.error({ offsetMs }, 'this clock is too far from the API server to lead: correct it')
    return true
  }

  #remainingMs(term: Term): number {
    return term.renewedAt + this.#renewMs - this.#clock.monotonic()
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(this.#retryMs * (1 + Math.random() * JITTER), signal).catch(() => undefined)
  }

  #complain(what: string, error: unknown): void {
    this.#options.log.warn({ reason: messageOf(error) }, what)
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof KubeError && (error.isConflict || error.isAlreadyExists)
}
