import type { Node, NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { JobIndex, type SlimNode, slimNode } from '@upgrade-hub/rollout'
import { mergePatch } from './merge-patch.ts'

/** A job with its tasks and nodes as the API server would hold them, where nobody else writes. */
export class Imagined {
  readonly index = new JobIndex()
  readonly tasks = new Map<string, NodeUpgradeTask>()
  readonly #nodes: Map<string, Node>
  readonly #slim: Map<string, SlimNode>
  #job: NodeUpgradeJob

  constructor(job: NodeUpgradeJob, nodes: readonly Node[]) {
    this.#job = asAccepted(job)
    this.#nodes = new Map(nodes.map((node) => [node.metadata.name, node]))
    this.#slim = new Map(nodes.map((node) => [node.metadata.name, slimNode(node)]))
  }

  get job(): NodeUpgradeJob {
    return this.#job
  }

  node(name: string): SlimNode | undefined {
    return this.#slim.get(name)
  }

  nodes(): SlimNode[] {
    return [...this.#slim.values()]
  }

  patchStatus(status: object): void {
    this.#job = { ...this.#job, status: mergePatch(this.#job.status ?? {}, status) }
  }

  approve(wave: string): void {
    const approvals = [...(this.#job.control?.approvals ?? []), { wave, by: 'plan' }]
    this.#job = { ...this.#job, control: { ...this.#job.control, approvals } }
  }

  putTask(task: NodeUpgradeTask, now: number): void {
    this.tasks.set(task.metadata.name, task)
    this.index.upsert(task, now, this.node(task.spec.nodeName))
  }

  patchNode(name: string, patch: object): void {
    const before = this.#nodes.get(name)
    if (!before) return
    const node = mergePatch(before, patch)
    const slim = { ...slimNode(node), ownsUnschedulable: true }
    this.#nodes.set(name, node)
    this.#slim.set(name, slim)
    this.index.observe(name, slim)
  }
}

/** What the API server and the first decisions add. */
function asAccepted(job: NodeUpgradeJob): NodeUpgradeJob {
  const { status: _, control: __, ...rest } = job
  const metadata = {
    ...job.metadata,
    uid: job.metadata.uid ?? 'plan',
    generation: 1,
    finalizers: ['upgradehub.io/release'],
  }
  return { ...rest, metadata }
}
