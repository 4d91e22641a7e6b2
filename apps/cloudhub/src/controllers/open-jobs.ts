import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { type Change, Informer } from '@upgrade-hub/kube'
import { type Entry, isEnd, JobIndex, type SlimNode, statusOf } from '@upgrade-hub/rollout'
import { TASKS } from '../kube-api.ts'
import type { Term } from './term.ts'

/** A job whose tasks are mirrored, because something of it is still to be done. */
export interface OpenJob {
  readonly name: string
  readonly uid: string
  readonly index: JobIndex
  /** The tasks that take upgrades back. */
  readonly back: JobIndex
  readonly tasks: Informer<NodeUpgradeTask>
  /** Tasks that the last decision on the job lets prepare. */
  permitted: ReadonlySet<string>
  /** Tasks beyond the plan. */
  strays: ReadonlySet<string>
  /** Planned tasks that the mirror lacks are known to be gone. */
  complete: boolean
  pace: { flushedAt: number; releasedAt: number }
  /** What its tasks were last told of the job. */
  told: string
  /** When results were first seen, by `task.attempt`. */
  readonly seenAt: Map<string, number>
  readonly stop: () => Promise<void>
}

/** The open jobs and the tasks on each node. Finished jobs are not here, and their tasks are read only when asked for. */
export class OpenJobs {
  readonly #term: Term
  readonly #jobs = new Map<string, OpenJob>()
  readonly #byNode = new Map<string, Set<string>>()

  constructor(term: Term) {
    this.#term = term
  }

  get(name: string): OpenJob | undefined {
    return this.#jobs.get(name)
  }

  /** Opens a job; a job of the same name and another UID is closed. */
  open(name: string, uid: string): OpenJob {
    const known = this.#jobs.get(name)
    if (known?.uid === uid) return known
    if (known) this.close(name)
    const { client, clock, log, metrics } = this.#term.options
    const fieldSelector = `spec.jobName=${name}`
    const tasks = new Informer<NodeUpgradeTask>({
      client,
      resource: TASKS,
      fieldSelector,
      project: slimTask,
      clock,
      log,
      metrics,
    })
    const job = this.#start(name, uid, tasks)
    this.#jobs.set(name, job)
    tasks.onChange((change) => this.#onTask(job, change))
    void tasks.synced(this.#term.signal).then(
      () => this.#term.queues.jobs.add(name),
      () => undefined,
    )
    return job
  }

  close(name: string): void {
    const job = this.#jobs.get(name)
    if (!job) return
    this.#jobs.delete(name)
    for (const task of namesIn(job)) {
      this.#leaveNode(taskKey(name, task), entryIn(job, task)?.nodeName)
      this.#term.latest.task.forget(task)
    }
    void job.stop()
  }

  async closeAll(): Promise<void> {
    const stops = [...this.#jobs.values()].map((job) => job.stop())
    this.#jobs.clear()
    await Promise.all(stops)
  }

  /** Puts a task as it was just written or read. */
  put(job: OpenJob, task: NodeUpgradeTask): void {
    const { name } = task.metadata
    this.#term.latest.task.put(name, slimTask(task))
    this.place(job, name)
  }

  /** Brings the index up to what is known of a task now. */
  place(job: OpenJob, name: string): NodeUpgradeTask | undefined {
    const before = entryIn(job, name)
    const task = this.#term.latest.task.latest(name, job.tasks.get(name))
    const isMember = task?.spec.owner.uid === job.uid
    const index = task?.spec.purpose === 'RollBack' ? job.back : job.index
    if (!task || !isMember) for (const tasks of [job.index, job.back]) tasks.remove(name)
    else index.upsert(task, this.#term.now(), this.#term.node(task.spec.nodeName))
    // Time alone moves a task from resting to waiting, and no event tells of it.
    if (entryIn(job, name)?.state !== before?.state) this.#term.queues.jobs.add(job.name)
    const key = taskKey(job.name, name)
    if (task && needsNode(task)) this.#joinNode(key, task.spec.nodeName)
    else this.#leaveNode(key, task?.spec.nodeName ?? before?.nodeName)
    return task
  }

  /** Wakes what is on a node that has changed in a way that matters. */
  onNode({ key, item, previous, type }: Change<SlimNode>): void {
    if (item.hold) this.#term.queues.marks.add(key)
    for (const job of this.#jobs.values()) {
      const node = this.#term.node(key)
      const turned = [job.index, job.back].filter((tasks) => tasks.observe(key, node))
      if (turned.length > 0) this.#term.queues.jobs.add(job.name)
    }
    if (type === 'updated' && previous && !differs(previous, item)) return
    for (const task of this.#byNode.get(key) ?? []) {
      this.#term.queues.tasks.add(task)
      this.#term.queues.jobs.add(jobOf(task))
    }
  }

  #start(name: string, uid: string, tasks: Informer<NodeUpgradeTask>): OpenJob {
    const controller = new AbortController()
    const running = tasks.run(AbortSignal.any([controller.signal, this.#term.signal]))
    const stop = async () => {
      controller.abort(new Error('the job is closed'))
      await running
    }
    return {
      name,
      uid,
      index: new JobIndex(),
      back: new JobIndex(),
      tasks,
      permitted: new Set(),
      strays: new Set(),
      complete: false,
      pace: { flushedAt: 0, releasedAt: 0 },
      told: '',
      seenAt: new Map(),
      stop,
    }
  }

  #onTask(job: OpenJob, change: Change<NodeUpgradeTask>): void {
    if (this.#jobs.get(job.name) !== job || change.item.spec.jobName !== job.name) return
    this.#term.latest.task.see(change)
    this.place(job, change.key)
    this.#term.queues.tasks.add(taskKey(job.name, change.key))
    this.#term.queues.jobs.add(job.name)
  }

  #joinNode(key: string, nodeName: string): void {
    const tasks = this.#byNode.get(nodeName) ?? new Set()
    this.#byNode.set(nodeName, tasks.add(key))
  }

  #leaveNode(key: string, nodeName: string | undefined): void {
    const tasks = nodeName === undefined ? undefined : this.#byNode.get(nodeName)
    if (!tasks || nodeName === undefined) return
    tasks.delete(key)
    if (tasks.size === 0) this.#byNode.delete(nodeName)
  }
}

/** A task of a job, of whatever purpose. */
export function entryIn({ index, back }: OpenJob, task: string): Entry | undefined {
  return index.get(task) ?? back.get(task)
}

/** The names of all tasks of a job. */
export function* namesIn({ index, back }: OpenJob): Generator<string> {
  yield* index.names()
  yield* back.names()
}

/** The key of the task queue; the name of a job has no slash. */
export function taskKey(job: string, task: string): string {
  return `${job}/${task}`
}

export function jobOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

export function taskOf(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}

/** An unknown end may still turn into the truth when the node shows it. */
function needsNode(task: NodeUpgradeTask): boolean {
  const { phase } = statusOf(task)
  return !isEnd(phase) || phase === 'Unknown'
}

/** Heartbeats change a Node all the time; decisions look at these. */
function differs(left: SlimNode, right: SlimNode): boolean {
  return (
    left.uid !== right.uid ||
    left.ready !== right.ready ||
    left.version !== right.version ||
    left.unschedulable !== right.unschedulable ||
    left.ownsUnschedulable !== right.ownsUnschedulable ||
    left.keepCordoned !== right.keepCordoned ||
    left.deleting !== right.deleting ||
    left.hold?.taskUID !== right.hold?.taskUID
  )
}

/** Logs and field owners are half of a task and no decision reads them. */
function slimTask(task: NodeUpgradeTask): NodeUpgradeTask {
  const { managedFields: _, ...metadata } = task.metadata
  if (!task.status?.edge?.logTail) return { ...task, metadata }
  const { logTail: __, ...edge } = task.status.edge
  return { ...task, metadata, status: { ...task.status, edge } }
}
