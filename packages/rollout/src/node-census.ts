import type { NodeUpgradeTask } from '@upgrade-hub/api'
import type { SlimNode } from './slim-node.ts'

/** Named by the job, but no nodes of it. */
const OUTSIDERS = ['Excluded', 'NotFound', 'NotEdge']

/** The nodes of a job by whether they are up, each once however many tasks it has. */
export class NodeCensus {
  readonly #tasks = new Map<string, number>()
  readonly #down = new Set<string>()

  /** Nodes of the job that are down though this job does not hold them. */
  get down(): number {
    return this.#down.size
  }

  isDown(nodeName: string): boolean {
    return this.#down.has(nodeName)
  }

  join({ spec }: NodeUpgradeTask): void {
    if (isOutsider(spec)) return
    this.#tasks.set(spec.nodeName, (this.#tasks.get(spec.nodeName) ?? 0) + 1)
  }

  leave({ spec }: NodeUpgradeTask): void {
    if (isOutsider(spec)) return
    const left = (this.#tasks.get(spec.nodeName) ?? 0) - 1
    if (left > 0) return void this.#tasks.set(spec.nodeName, left)
    this.#tasks.delete(spec.nodeName)
    this.#down.delete(spec.nodeName)
  }

  /** Looks at a node again; `isOurs` says that the job itself holds it. */
  observe(nodeName: string, node: SlimNode | undefined, isOurs: boolean): void {
    const isMember = this.#tasks.has(nodeName)
    const isDown =
      node !== undefined && !isOurs && (!node.ready || node.unschedulable || node.hold !== undefined)
    if (isMember && isDown) this.#down.add(nodeName)
    else this.#down.delete(nodeName)
  }
}

function isOutsider({ verdict, reason = '' }: NodeUpgradeTask['spec']): boolean {
  return verdict === 'Refused' && OUTSIDERS.includes(reason)
}
