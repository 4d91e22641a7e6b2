import type { EdgeIdentity } from '@upgrade-hub/api'
import type { Clock } from '@upgrade-hub/core'
import { KubeError } from '@upgrade-hub/kube'
import type { NodeIdentity } from '@upgrade-hub/pki'
import { HttpError } from '../../errors.ts'
import { RateLimiter } from '../../http/rate-limit.ts'
import { IDENTITIES, type KubeApi } from '../../kube-api.ts'
import { type Application, decideEnrolment, decideHello, type IdentityDecision, mayUse } from './decide.ts'

/** What the informer of EdgeIdentity objects gives: the newest known one by node name. */
export interface IdentityCache {
  get(nodeName: string): EdgeIdentity | undefined
}

const MAX_TRIES = 5
/** Reads past the cache a second, for all nodes together: a crowd of revoked edges must not become API load. */
const LIVE_READS = { perSecond: 50, burst: 200 }
const LIVE_READS_OF_A_NODE = { perSecond: 0.2, burst: 5 }

/** The stored identities of edges: who may speak for a node, and since when. Every replica asks the same objects. */
export class Identities {
  readonly #client: KubeApi
  readonly #cache: IdentityCache
  readonly #liveReads: RateLimiter
  readonly #liveReadsOfNode: RateLimiter

  constructor({ client, cache, clock }: { client: KubeApi; cache: IdentityCache; clock: Clock }) {
    this.#client = client
    this.#cache = cache
    this.#liveReads = new RateLimiter(LIVE_READS, clock)
    this.#liveReadsOfNode = new RateLimiter(LIVE_READS_OF_A_NODE, clock)
  }

  /**
   * Resolves when the key may speak for the node. What the cache does not confirm is read once more, because it may have
   * been enrolled a moment ago. @throws HttpError 401 REVOKED, 503 BUSY; KubeError
   */
  async admit({ nodeName, fingerprint }: NodeIdentity): Promise<void> {
    const cached = this.#cache.get(nodeName)
    if (cached && mayUse(cached.spec, fingerprint)) return
    if (!this.#liveReadsOfNode.take(nodeName) || !this.#liveReads.take()) {
      throw new HttpError(503, 'BUSY', 'too many certificates are being looked up', { retryAfterSeconds: 10 })
    }
    const live = await this.#find(nodeName)
    if (!live || !mayUse(live.spec, fingerprint)) {
      throw refusal('REVOKED')
    }
  }

  /** Stores who got a certificate. @throws HttpError 403 ALREADY_ENROLLED, 401 REVOKED; KubeError */
  async enrol(nodeName: string, application: Application): Promise<void> {
    await this.#settle(nodeName, await this.#find(nodeName), (stored) =>
      decideEnrolment(stored?.spec, application),
    )
  }

  /**
   * Checks the machine behind a session and fills it in at its first hello; nothing is written when nothing is new.
   * @throws HttpError 401 REVOKED, 403 IDENTITY_CONFLICT; KubeError
   */
  async greet({ nodeName, fingerprint }: NodeIdentity, machineID: string): Promise<void> {
    const cached = this.#cache.get(nodeName)
    const start = cached && mayUse(cached.spec, fingerprint) ? cached : await this.#find(nodeName)
    await this.#settle(nodeName, start, (stored) => decideHello(stored?.spec, { fingerprint, machineID }))
  }

  /** Decides, writes if need be, and decides again on what is stored when somebody was faster. */
  async #settle(
    nodeName: string,
    start: EdgeIdentity | undefined,
    decide: (stored: EdgeIdentity | undefined) => IdentityDecision,
  ): Promise<void> {
    let stored = start
    for (let tries = 0; ; tries++) {
      const decision = decide(stored)
      if (decision.kind === 'keep') return
      if (decision.kind === 'refuse') throw refusal(decision.code)
      try {
        return await this.#write(nodeName, stored, decision.spec)
      } catch (error) {
        if (tries === MAX_TRIES || !isWorthReading(error)) throw error
        stored = await this.#find(nodeName)
      }
    }
  }

  async #write(
    nodeName: string,
    stored: EdgeIdentity | undefined,
    spec: EdgeIdentity['spec'],
  ): Promise<void> {
    if (!stored) {
      const metadata = { name: nodeName }
      const created: EdgeIdentity = {
        apiVersion: 'upgradehub.io/v1alpha1',
        kind: 'EdgeIdentity',
        metadata,
        spec,
      }
      await this.#client.create(IDENTITIES, created)
      return
    }
    const { resourceVersion } = stored.metadata
    await this.#client.patch(IDENTITIES, nodeName, { metadata: { resourceVersion }, spec })
  }

  async #find(nodeName: string): Promise<EdgeIdentity | undefined> {
    try {
      return await this.#client.get(IDENTITIES, nodeName)
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return undefined
      throw error
    }
  }
}

function isWorthReading(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false
  return error.isConflict || error.isAlreadyExists || error.isNotFound || error.isUnknownOutcome
}

function refusal(code: 'ALREADY_ENROLLED' | 'REVOKED' | 'IDENTITY_CONFLICT'): HttpError {
  switch (code) {
    case 'ALREADY_ENROLLED':
      return new HttpError(
        403,
        code,
        'the node is enrolled: delete its EdgeIdentity to let another key take over',
      )
    case 'REVOKED':
      return new HttpError(401, code, 'this certificate does not speak for the node any more')
    case 'IDENTITY_CONFLICT':
      return new HttpError(403, code, 'the certificate belongs to another machine')
  }
}
