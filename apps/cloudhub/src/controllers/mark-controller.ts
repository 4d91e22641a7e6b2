import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { KubeError, NODES } from '@upgrade-hub/kube'
import {
  endedPatch,
  isEnd,
  isFinished,
  NODE_FIELD_MANAGER,
  RELEASE_FINALIZER,
  restorePatch,
  type SlimNode,
  slimNode,
  statusOf,
} from '@upgrade-hub/rollout'
import { TASKS } from '../kube-api.ts'
import { taskKey } from './open-jobs.ts'
import type { Term } from './term.ts'

const RETRY_MS = 1_000

/**
 * Lets go of nodes that bear our mark for a task that is gone or over: whatever went wrong, nothing stays closed for nobody. A
 * mark of a live task is that task's business.
 */
export class MarkController {
  readonly #term: Term

  constructor(term: Term) {
    this.#term = term
  }

  async reconcile(name: string): Promise<{ requeueAfterMs?: number } | void> {
    const node = this.#term.node(name)
    if (!node?.hold) return
    const owner = await this.#owner(node)
    if (!owner) return this.#release(node)
    const job = this.#term.open.get(owner.spec.jobName)
    if (job) {
      this.#term.queues.tasks.add(taskKey(job.name, owner.metadata.name))
      return
    }
    if (isEnd(statusOf(owner).phase)) return this.#release(node, endedPatch(node, owner, this.#jobOf(owner)))
    if (this.#isToBeOpened(owner)) return { requeueAfterMs: RETRY_MS }
    // The job is not open: nobody decides on the task, but the agent may be at work until its deadline.
    const waitMs = Date.parse(statusOf(owner).deadline ?? '') - this.#term.now()
    return waitMs > 0 ? { requeueAfterMs: Math.min(waitMs, LOOK_AGAIN_MS) } : this.#release(node)
  }

  /** The live task that the mark names; a task of another UID is another task. */
  async #owner({ hold }: SlimNode): Promise<NodeUpgradeTask | undefined> {
    if (!hold?.task || !hold.taskUID) return undefined
    try {
      const task = await this.#term.options.client.get(TASKS, hold.task, { signal: this.#term.signal })
      return task.metadata.uid === hold.taskUID ? task : undefined
    } catch (error) {
      // A name that is no name at all is refused otherwise than with 404, and no task has it either.
      if (error instanceof KubeError && (error.isNotFound || error.code === 'KUBE_BAD_REQUEST'))
        return undefined
      throw error
    }
  }

  #jobOf({ spec }: NodeUpgradeTask): NodeUpgradeJob | undefined {
    const job = this.#term.job(spec.jobName)
    return job?.metadata.uid === spec.owner.uid ? job : undefined
  }

  /** A leader that has just begun sees marks before it has opened their jobs. */
  #isToBeOpened(owner: NodeUpgradeTask): boolean {
    const job = this.#jobOf(owner)
    return (
      job !== undefined && !isFinished(job) && (job.metadata.finalizers ?? []).includes(RELEASE_FINALIZER)
    )
  }

  async #release(node: SlimNode, patch = restorePatch(node)): Promise<{ requeueAfterMs: number } | void> {
    const { client } = this.#term.options
    const options = { fieldManager: NODE_FIELD_MANAGER }
    try {
      const stored = slimNode(
        await this.#term.write((signal) => client.patch(NODES, node.name, patch, { ...options, signal })),
      )
      this.#term.latest.node.put(stored.name, stored)
    } catch (error) {
      if (!(error instanceof KubeError) || !(error.isConflict || error.isUnknownOutcome || error.isNotFound))
        throw error
      this.#term.teller.refused('node', error.code)
      return { requeueAfterMs: RETRY_MS }
    }
    const note = `let go of the node: task ${node.hold?.task || 'unknown'} is over or gone`
    this.#term.teller.events([{ on: 'node', type: 'Warning', reason: 'HoldReleased', note }], { node })
  }
}

const LOOK_AGAIN_MS = 60_000
