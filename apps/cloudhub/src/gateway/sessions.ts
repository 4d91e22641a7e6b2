import type { X509Certificate } from 'node:crypto'
import type { EdgeIdentitySpec, NodeUpgradeTask } from '@upgrade-hub/api'
import type { AcceptOptions, EdgeSession, Refusal } from '@upgrade-hub/channel'
import type { Clock, Logger } from '@upgrade-hub/core'
import { identityOf } from '@upgrade-hub/pki'
import { CLOSE, type Hello, LIMITS, type Welcome } from '@upgrade-hub/protocol'
import { HttpError } from '../errors.ts'
import { RateLimiter } from '../http/rate-limit.ts'
import type { KubeApi } from '../kube-api.ts'
import { mayUse } from './identity/decide.ts'
import type { Identities } from './identity/identities.ts'
import { SessionIntents } from './intents/session-intents.ts'
import type { NodeCache, RegisteredNodes } from './registered/registered-nodes.ts'
import type { TaskCache } from './reports/edge-writer.ts'
import type { Reports } from './reports/reports.ts'
import { converse } from './session/edge-conversation.ts'
import { judgeOpen } from './session/open-attempts.ts'

/** What the informer of active tasks gives, by name and by node. */
export interface ActiveTasks extends TaskCache {
  by(index: 'node', nodeName: string): readonly NodeUpgradeTask[]
}

export interface SessionsOptions {
  readonly client: KubeApi
  readonly tasks: ActiveTasks
  readonly nodes: Pick<NodeCache, 'get'>
  readonly identities: Identities
  readonly registered: RegisteredNodes
  readonly reports: Reports
  readonly clock: Clock
  readonly log: Logger
}

const RESULTS_OF_A_NODE = { perSecond: 2, burst: 20 }

interface Open {
  readonly session: EdgeSession
  readonly intents: SessionIntents
  readonly fingerprint: string
  /** As the welcome said it. */
  readonly nodeUID: string
}

/** The hub's side of every session: who may open one, what it is welcomed with, and what is sent and taken over it. */
export class Sessions implements Pick<AcceptOptions, 'authorize' | 'welcome' | 'onSession'> {
  readonly #options: SessionsOptions
  readonly #open = new Map<string, Open>()
  /** The key that the newest handshake of a node was made with; one for each node that is enrolled. */
  readonly #keys = new Map<string, string>()
  /** The UID that the newest welcome of a node named. */
  readonly #uids = new Map<string, string>()
  readonly #results: RateLimiter

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#results = new RateLimiter(RESULTS_OF_A_NODE, options.clock)
  }

  /** The session of a node on this replica. */
  of(nodeName: string): EdgeSession | undefined {
    return this.#open.get(nodeName)?.session
  }

  readonly authorize = async (
    _: unknown,
    certificate: X509Certificate,
  ): Promise<{ nodeName: string } | Refusal> => {
    const identity = identityOf(certificate)
    if (!identity) return { status: 403, code: 'NO_NODE', message: 'the certificate speaks for no node' }
    try {
      await this.#options.identities.admit(identity)
    } catch (error) {
      if (error instanceof HttpError) return refusalOf(error)
      throw error
    }
    this.#keys.set(identity.nodeName, identity.fingerprint)
    return { nodeName: identity.nodeName }
  }

  readonly welcome = async (
    nodeName: string,
    hello: Hello,
  ): Promise<Welcome | { closeCode: number; reason: string }> => {
    const { client, tasks, identities, registered, log } = this.#options
    const fingerprint = this.#keys.get(nodeName) ?? ''
    try {
      await identities.greet({ nodeName, fingerprint }, hello.node.machineID)
    } catch (error) {
      if (error instanceof HttpError && error.retry === 'never') return closeOf(error)
      throw error
    }
    const nodeUID = await registered.nodeUid(nodeName, hello)
    this.#uids.set(nodeName, nodeUID)
    return {
      heartbeatSeconds: LIMITS.heartbeatMs / 1000,
      nodeUID,
      open: await judgeOpen({ nodeName, open: hello.open }, { client, cache: tasks, log }),
      limits: { maxFrameBytes: LIMITS.maxFrameBytes },
    }
  }

  readonly onSession = (session: EdgeSession): void => {
    const { nodeName } = session
    const { client, tasks, nodes, reports, registered, clock, log } = this.#options
    const serverNow = () => client.serverNow()
    const find = (name: string) => tasks.get(name)
    const intents = new SessionIntents({ session, find, serverNow, clock, log })
    this.#open.get(nodeName)?.intents.dispose()
    const fingerprint = this.#keys.get(nodeName) ?? ''
    this.#open.set(nodeName, { session, intents, fingerprint, nodeUID: this.#uids.get(nodeName) ?? '' })
    void session.closed.then(() => this.#closed(session))
    converse({ session, intents, reports, results: this.#results, serverNow, log })
    registered.opened(session).catch((error: unknown) => {
      log.error({ node: nodeName, err: error }, 'the Node of an edge cannot be looked after')
      session.close(CLOSE.goingAway, 'Unavailable')
    })
    for (const task of tasks.by('node', nodeName)) intents.consider(task)
    const node = nodes.get(nodeName)
    if (node) this.onNode(node)
  }

  /**
   * The Node of a connected edge has appeared, or is another now: the edge refuses commands for a UID that its welcome did not
   * name, so it has to come again.
   */
  onNode({ name, uid }: { name: string; uid: string }): void {
    const open = this.#open.get(name)
    if (!open || open.nodeUID === uid) return
    this.#options.log.info({ node: name }, 'the Node of a connected edge is new: the edge is to come again')
    open.session.close(CLOSE.goingAway, 'NodeChanged')
  }

  /** A task has changed, or is no longer active. */
  onTask(task: NodeUpgradeTask, isActive: boolean): void {
    const intents = this.#open.get(task.spec.nodeName)?.intents
    if (isActive) intents?.consider(task)
    else intents?.forget(task.metadata.name)
  }

  /** An identity has changed, or is gone: a session with a key that may not speak any more ends. */
  onIdentity(nodeName: string, spec: EdgeIdentitySpec | undefined): void {
    if (!spec) this.#keys.delete(nodeName)
    const open = this.#open.get(nodeName)
    if (!open || (spec && mayUse(spec, open.fingerprint))) return
    this.#options.log.warn({ node: nodeName }, 'the identity of a connected edge was revoked')
    open.session.close(CLOSE.revoked, 'Revoked')
  }

  #closed(session: EdgeSession): void {
    const open = this.#open.get(session.nodeName)
    if (open?.session !== session) return
    open.intents.dispose()
    this.#open.delete(session.nodeName)
    this.#uids.delete(session.nodeName)
  }
}

function refusalOf({ status, code, message, retryAfterSeconds }: HttpError): Refusal {
  return { status, code, message, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }
}

function closeOf({ code }: HttpError): { closeCode: number; reason: string } {
  return code === 'REVOKED'
    ? { closeCode: CLOSE.revoked, reason: 'Revoked' }
    : { closeCode: CLOSE.policy, reason: 'IdentityConflict' }
}
