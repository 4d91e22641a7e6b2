import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { KubeError, NODES } from '@upgrade-hub/kube'
import {
  decideTask,
  isEnd,
  jobPlan,
  NODE_FIELD_MANAGER,
  resultOf,
  type SlimPod,
  slimNode,
  statusOf,
  type TaskDecision,
  type TaskView,
  type TaskWrite,
} from '@upgrade-hub/rollout'
import { TASKS } from '../kube-api.ts'
import { entryIn, jobOf, type OpenJob, taskOf } from './open-jobs.ts'
import { evict, podsOn } from './pods.ts'
import type { Term } from './term.ts'

/** Writes of one task in a row before others get their turn. */
const MAX_STEPS = 6

/** Looks, decides, writes one thing, and looks again: the shell around `decideTask`. */
export class TaskController {
  readonly #term: Term

  constructor(term: Term) {
    this.#term = term
  }

  async reconcile(key: string): Promise<{ requeueAfterMs?: number } | void> {
    const job = this.#term.open.get(jobOf(key))
    if (!job?.tasks.hasSynced) return
    const name = taskOf(key)
    let pods: readonly SlimPod[] | undefined
    for (let step = 0, refused = 0; step < MAX_STEPS; step++) {
      const seen = this.#view(job, name)
      if (!seen) return
      const view = pods ? { ...seen, pods } : seen
      const decision = decideTask(view)
      if (decision.needsPods) {
        pods = await podsOn(this.#term.options.client, view.task.spec.nodeName, this.#term.signal)
        continue
      }
      if (decision.evict) await this.#evict(view, decision.evict)
      if (!decision.write) return this.#sleep(decision, view.now)
      if (!(await this.#apply(job, view, decision)) && ++refused > 1) return { requeueAfterMs: RETRY_MS }
    }
    return { requeueAfterMs: 0 }
  }

  /** One after the other: a budget that lets one go may not let the next. */
  async #evict({ job }: TaskView, pods: readonly SlimPod[]): Promise<void> {
    const { client } = this.#term.options
    const gracePeriodSeconds = job && jobPlan(job).drain.gracePeriodSeconds
    for (const pod of pods) {
      const went = await this.#term.write((signal) => evict(client, pod, { gracePeriodSeconds, signal }))
      if (!went) this.#term.teller.refused('pod', 'KUBE_TOO_MANY_REQUESTS')
    }
  }

  #view(open: OpenJob, name: string): TaskView | undefined {
    const term = this.#term
    const task = term.open.place(open, name)
    if (!task) return undefined
    const job = term.job(open.name)
    const owner = job?.metadata.uid === task.spec.owner.uid ? job : undefined
    const { attempt = 0 } = statusOf(task)
    return {
      job: owner,
      task,
      node: term.node(task.spec.nodeName),
      released:
        owner?.status?.releasing?.some((entry) => entry.task === name && entry.attempt === attempt) ?? false,
      mayPrepare: open.permitted.has(name) && term.guard.isOurs,
      planned: !open.strays.has(name),
      resultSeenAt: this.#seenAt(open, task),
      now: term.now(),
    }
  }

  /** The verification is counted from the first sight of a result; a new leader counts again, the deadline bounds it. */
  #seenAt(open: OpenJob, task: NodeUpgradeTask): number | undefined {
    const key = `${task.metadata.name}.${statusOf(task).attempt}`
    if (!resultOf(task) || isEnd(statusOf(task).phase)) {
      open.seenAt.delete(key)
      return undefined
    }
    const seenAt = open.seenAt.get(key) ?? this.#term.now()
    open.seenAt.set(key, seenAt)
    return seenAt
  }

  #sleep({ wakeAt }: TaskDecision, now: number): { requeueAfterMs?: number } {
    return wakeAt === undefined ? {} : { requeueAfterMs: Math.max(MIN_WAIT_MS, wakeAt - now) }
  }

  /** False when the write met something newer or its outcome is unknown: then what is stored has been read. */
  async #apply(open: OpenJob, view: TaskView, decision: TaskDecision): Promise<boolean> {
    const { write } = decision
    if (!write) return true
    try {
      await this.#send(open, view, write)
    } catch (error) {
      if (!(error instanceof KubeError) || !mayHaveMoved(error)) throw error
      this.#term.teller.refused(write.target, error.code)
      await this.#readBack(open, view, write)
      return false
    }
    this.#tell(open, view, decision)
    this.#term.queues.jobs.add(open.name)
    return true
  }

  async #send(open: OpenJob, { task, node }: TaskView, write: TaskWrite): Promise<void> {
    const { client } = this.#term.options
    const { name, resourceVersion } = task.metadata
    const options = { fieldManager: NODE_FIELD_MANAGER }
    if (write.target === 'node') {
      const patch = (signal: AbortSignal) =>
        client.patch(NODES, node?.name ?? '', write.patch, { ...options, signal })
      const stored = slimNode(await this.#term.write(patch))
      this.#term.latest.node.put(stored.name, stored)
      return
    }
    const body =
      write.target === 'status'
        ? { metadata: { resourceVersion }, status: write.status }
        : { metadata: { resourceVersion, finalizers: write.finalizers } }
    const subresource = write.target === 'status' ? ({ subresource: 'status' } as const) : {}
    const patch = (signal: AbortSignal) =>
      client.patch(TASKS, name, body, { ...options, ...subresource, signal })
    this.#term.open.put(open, await this.#term.write(patch))
  }

  async #readBack(open: OpenJob, { task, node }: TaskView, write: TaskWrite): Promise<void> {
    const { client } = this.#term.options
    const { signal } = this.#term
    try {
      if (write.target === 'node') {
        const stored = slimNode(await client.get(NODES, node?.name ?? '', { signal }))
        this.#term.latest.node.put(stored.name, stored)
      } else {
        this.#term.open.put(open, await client.get(TASKS, task.metadata.name, { signal }))
      }
    } catch (error) {
      // Gone: the mirror will say so, and until then nothing can be written to it.
      if (!(error instanceof KubeError && error.isNotFound)) throw error
    }
  }

  #tell(open: OpenJob, { job, node, task }: TaskView, { events }: TaskDecision): void {
    const stored = entryIn(open, task.metadata.name)?.task
    this.#term.teller.events(events, { job, node })
    if (stored && isEnd(statusOf(stored).phase) && !isEnd(statusOf(task).phase))
      this.#term.teller.ended(stored)
  }
}

const MIN_WAIT_MS = 10
const RETRY_MS = 500

function mayHaveMoved(error: KubeError): boolean {
  return error.isConflict || error.isUnknownOutcome || error.isNotFound
}
