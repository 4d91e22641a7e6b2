import { type Clock, invariant, type Logger, messageOf, type Timer } from '@upgrade-hub/core'
import type { KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import { holderOf, LeaseObserver, releasedSpec, termSpec } from './lease.ts'
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

/** Runs while this process leads; must end when its signal aborts. `epoch` is higher than that of every leader before. */
export type Lead = (signal: AbortSignal, epoch: number) => Promise<void>

interface Term {
  readonly epoch: number
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
      const term = await this.#acquire()
      if (term && !signal.aborted) await this.#serve(signal, term, lead)
      else if (term) await this.#release()
      await this.#pause(signal)
    }
  }

  async #acquire(): Promise<Term | undefined> {
    try {
      const lease = await this.#read()
      if (this.#isClockOff()) return undefined
      this.#term = this.#adopted(lease) ?? (await this.#take(lease))
    } catch (error) {
      if (!(error instanceof KubeError && error.isConflict))
        this.#complain('the lease could not be taken', error)
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
      await lead(serving.signal, term.epoch)
    } catch (error) {
      if (!serving.signal.aborted) this.#complain('leading failed', error)
    } finally {
      signal.removeEventListener('abort', stop)
      serving.abort(new Error('the term has ended'))
      await renewing
      await this.#release()
      log.info({ epoch: term.epoch }, 'not leading any more')
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
      if (!(await this.#renew())) serving.abort(new Error('the lease was lost'))
    }
    expiry?.cancel()
  }

  /** False when the lease is not ours any more; a failure that may pass is true. */
  async #renew(): Promise<boolean> {
    const term = this.#term
    if (!term || this.#isClockOff()) return false
    try {
      this.#term = await this.#write(term.lease, term.epoch, {
        ...term.lease.spec,
        renewTime: this.#nowText(),
      })
      return true
    } catch (error) {
      if (error instanceof KubeError && error.isConflict) return this.#reread(term)
      this.#complain('the lease could not be renewed', error)
      return !(error instanceof KubeError && error.isNotFound)
    }
  }

  /** Somebody wrote the lease, maybe ourselves without hearing of it: it is still ours if our term stands in it. */
  async #reread(term: Term): Promise<boolean> {
    try {
      const lease = await this.#read()
      if (!lease || !this.#isOurs(lease, term.epoch)) return false
      this.#term = { ...term, lease }
    } catch (error) {
      this.#complain('the lease could not be read', error)
    }
    return true
  }

  async #take(lease: Lease | undefined): Promise<Term | undefined> {
    const epoch = lease ? holderOf(lease, this.#leaseMs).transitions + 1 : 1
    if (lease && !this.#observer.isFree(holderOf(lease, this.#leaseMs), this.#clock.monotonic()))
      return undefined
    const { identity } = this.#options
    const spec = termSpec(
      { identity, transitions: epoch, leaseMs: this.#leaseMs },
      this.#options.client.serverNow(),
    )
    this.#attempted = { renewTime: spec.renewTime ?? '', epoch, at: this.#clock.monotonic() }
    return this.#write(lease, epoch, spec)
  }

  #adopted(lease: Lease | undefined): Term | undefined {
    const attempted = this.#attempted
    this.#attempted = undefined
    if (!lease || !attempted || !this.#isOurs(lease, attempted.epoch)) return undefined
    if (lease.spec?.renewTime !== attempted.renewTime) return undefined
    const term = { epoch: attempted.epoch, lease, renewedAt: attempted.at }
    return this.#remainingMs(term) > 0 ? term : undefined
  }

  async #write(lease: Lease | undefined, epoch: number, spec: NonNullable<Lease['spec']>): Promise<Term> {
    const { client, namespace, name } = this.#options
    const renewedAt = this.#clock.monotonic()
    const metadata = lease?.metadata ?? { name, namespace }
    const next: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
    const options = { namespace, timeoutMs: this.#renewMs / 2, maxTries: 1 }
    const stored = lease
      ? await client.replace(LEASES, next, options)
      : await client.create(LEASES, next, options)
    return { epoch, lease: stored, renewedAt }
  }

  async #read(): Promise<Lease | undefined> {
    const { client, namespace, name } = this.#options
    try {
      return await client.get(LEASES, name, { namespace, timeoutMs: this.#renewMs / 2, maxTries: 1 })
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return undefined
      throw error
    }
  }

  async #release(): Promise<void> {
    const term = this.#term
    this.#term = undefined
    if (!term) return
    const { client, namespace } = this.#options
    try {
      const lease = await this.#read()
      if (!lease || !this.#isOurs(lease, term.epoch)) return
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

  #nowText(): string {
    return (
      termSpec({ identity: '', transitions: 0, leaseMs: 0 }, this.#options.client.serverNow()).renewTime ?? ''
    )
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(this.#retryMs * (1 + Math.random() * JITTER), signal).catch(() => undefined)
  }

  #complain(what: string, error: unknown): void {
    this.#options.log.warn({ reason: messageOf(error) }, what)
  }
}
