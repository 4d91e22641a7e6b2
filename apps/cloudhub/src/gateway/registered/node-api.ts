import type { Node } from '@upgrade-hub/api'
import { KubeError, LEASES, type Lease, NODES } from '@upgrade-hub/kube'
import type { KubeApi } from '../../kube-api.ts'
import {
  isExpired,
  LEASE_NAMESPACE,
  leaseObject,
  type NodeFacts,
  nodeObject,
  REGISTERED_LABEL,
  statusPatch,
  storedFacts,
} from './facts.ts'

/** Not the manager of cordons: registering must never look as if the hub had cordoned a node. */
const FIELD_MANAGER = 'upgradehub-registration'
const PAGE = 500

/** The calls about nodes without a kubelet. */
export class NodeApi {
  readonly #client: KubeApi

  constructor(client: KubeApi) {
    this.#client = client
  }

  get now(): number {
    return this.#client.serverNow()
  }

  async find(name: string): Promise<Node | undefined> {
    return orNothing(this.#client.get(NODES, name))
  }

  /** The Node of that name, made if there is none. */
  async ensure(name: string): Promise<Node> {
    const found = await this.find(name)
    if (found) return found
    try {
      return await this.#client.create(NODES, nodeObject(name), { fieldManager: FIELD_MANAGER })
    } catch (error) {
      // Another replica was first, or the answer was lost.
      const made = await this.find(name)
      if (made) return made
      throw error
    }
  }

  /** False when the Node is gone. */
  async report(name: string, facts: NodeFacts, written: NodeFacts | undefined): Promise<boolean> {
    const patched = await orNothing(this.#patchStatus(name, statusPatch(facts, written, this.now)))
    return patched !== undefined
  }

  /** Says that nobody hears of the node, unless its Lease or the Node itself changed meanwhile. */
  async reportGone(name: string): Promise<void> {
    const lease = await orNothing(this.#client.get(LEASES, name, { namespace: LEASE_NAMESPACE }))
    const node = await this.find(name)
    if (!node || !isExpired(lease, this.now)) return
    const stored = storedFacts(node)
    if (stored.ready !== 'True') return
    const { resourceVersion } = node.metadata
    const patch = statusPatch({ ...stored, ready: 'Unknown' }, stored, this.now)
    await this.#patchStatus(name, { metadata: { resourceVersion }, ...patch }).catch((error: unknown) => {
      if (!(error instanceof KubeError && (error.isConflict || error.isNotFound))) throw error
    })
  }

  async renewLease(node: { name: string; uid: string }): Promise<void> {
    const lease = leaseObject(node, this.now)
    const options = { namespace: LEASE_NAMESPACE, fieldManager: FIELD_MANAGER }
    const renewed = await orNothing(this.#client.patch(LEASES, node.name, { spec: lease.spec }, options))
    if (!renewed) await this.#client.create(LEASES, lease, options)
  }

  /** The registered nodes whose Lease somebody keeps. */
  async aliveNodes(): Promise<ReadonlySet<string>> {
    const alive = new Set<string>()
    let next: string | undefined
    do {
      const page: { items: readonly Lease[]; metadata: { continue?: string } } = await this.#client.list(
        LEASES,
        {
          namespace: LEASE_NAMESPACE,
          labelSelector: `${REGISTERED_LABEL}=true`,
          limit: PAGE,
          ...(next === undefined ? {} : { continue: next }),
        },
      )
      for (const lease of page.items) if (!isExpired(lease, this.now)) alive.add(lease.metadata.name)
      next = page.metadata.continue === '' ? undefined : page.metadata.continue
    } while (next !== undefined)
    return alive
  }

  #patchStatus(name: string, patch: object): Promise<Node> {
    return this.#client.patch(NODES, name, patch, {
      subresource: 'status',
      type: 'strategic',
      fieldManager: FIELD_MANAGER,
    })
  }
}

async function orNothing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound) return undefined
    throw error
  }
}
