import { REGISTERED_ANNOTATION } from '@upgrade-hub/api'
import type { EdgeSession } from '@upgrade-hub/channel'
import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import { CAPABILITY, type Hello } from '@upgrade-hub/protocol'
import type { SlimNode } from '@upgrade-hub/rollout'
import type { KubeApi } from '../../kube-api.ts'
import { slept } from '../../slept.ts'
import { GONE_AFTER_MS } from './facts.ts'
import { NodeApi } from './node-api.ts'
import { RegisteredNode } from './registered-node.ts'

/** What the informer of Nodes gives. */
export interface NodeCache {
  get(name: string): SlimNode | undefined
  list(): readonly SlimNode[]
}

export interface RegisteredNodesOptions {
  readonly client: KubeApi
  readonly nodes: NodeCache
  readonly clock: Clock
  readonly log: Logger
}

const SWEEP_MS = 30_000

/**
 * Speaks for the nodes that have no kubelet (`registerNode: true` at their edge): makes the Node, keeps Ready, version
 * and Lease true, and says so when the edge has been gone for 40 s, also when the replica that held it is gone too.
 * Nothing else of a Node is ever written, and a Node that somebody else made is left alone.
 */
export class RegisteredNodes {
  readonly #options: RegisteredNodesOptions
  readonly #api: NodeApi
  readonly #nodes = new Map<string, RegisteredNode>()

  constructor(options: RegisteredNodesOptions) {
    this.#options = options
    this.#api = new NodeApi(options.client)
  }

  /** The UID of the edge's Node, which is made if the edge asks for it; empty when there is none. @throws KubeError */
  async nodeUid(nodeName: string, hello: Hello): Promise<string> {
    const cached = this.#options.nodes.get(nodeName)
    if (cached || !asksForNode(hello)) return cached?.uid ?? ''
    return (await this.#api.ensure(nodeName)).metadata.uid ?? ''
  }

  /** Follows a session that was just opened. */
  async opened(session: EdgeSession): Promise<void> {
    if (!asksForNode(session.hello) || !(await this.#isOurs(session.nodeName))) return
    const node = this.#of(session.nodeName)
    node.opened(session)
    session.onProbe(() => node.report())
    void session.closed.then(() => node.closed(session))
  }

  /** Looks for nodes whose replica died with their session, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    // Who was connected to a replica that has just restarted gets the time to come back.
    let waitMs = GONE_AFTER_MS
    while (await slept(clock, waitMs, signal)) {
      waitMs = SWEEP_MS
      try {
        await this.#sweep()
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'nodes without a session cannot be looked for now')
      }
    }
    for (const node of this.#nodes.values()) node.stop()
  }

  async #sweep(): Promise<void> {
    const suspects = this.#options.nodes
      .list()
      .filter((node) => node.registered && node.ready && !this.#nodes.has(node.name))
    if (suspects.length === 0) return
    const alive = await this.#api.aliveNodes()
    for (const { name } of suspects) {
      // A sweep of many takes a while, and some come back meanwhile.
      if (!alive.has(name) && !this.#nodes.has(name)) await this.#api.reportGone(name)
    }
  }

  async #isOurs(name: string): Promise<boolean> {
    const cached = this.#options.nodes.get(name)
    if (cached) return this.#warnUnless(cached.registered, name)
    const node = await this.#api.find(name)
    return this.#warnUnless(node?.metadata.annotations?.[REGISTERED_ANNOTATION] === 'true', name)
  }

  #warnUnless(ours: boolean, node: string): boolean {
    if (!ours) this.#options.log.warn({ node }, 'the edge asks for registerNode, but its Node is not ours')
    return ours
  }

  #of(name: string): RegisteredNode {
    const known = this.#nodes.get(name)
    if (known) return known
    const { nodes, clock, log } = this.#options
    const node = new RegisteredNode({
      name,
      api: this.#api,
      cached: () => nodes.get(name),
      onGone: () => void this.#nodes.delete(name),
      clock,
      log,
    })
    this.#nodes.set(name, node)
    return node
  }
}

function asksForNode({ capabilities }: Hello): boolean {
  return capabilities.includes(CAPABILITY.registerNode)
}
