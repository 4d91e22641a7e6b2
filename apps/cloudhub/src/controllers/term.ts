import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import type { Clock, Logger, Metrics } from '@upgrade-hub/core'
import { type EventRecorder, Informer, type KubeClient, type Node, WorkQueue } from '@upgrade-hub/kube'
import type { SlimNode } from '@upgrade-hub/rollout'
import { NotLeadingError } from '../errors.ts'
import { JOBS } from '../kube-api.ts'
import { JobController } from './job-controller.ts'
import { MarkController } from './mark-controller.ts'
import { OpenJobs } from './open-jobs.ts'
import { Overlay } from './overlay.ts'
import { SchemaGuard } from './schema-guard.ts'
import { Sweep } from './sweep.ts'
import { TaskController } from './task-controller.ts'
import { Teller } from './teller.ts'

/** What a term of leadership is given. */
export interface TermOptions {
  readonly client: KubeClient
  readonly nodes: Informer<Node, SlimNode>
  readonly recorder: EventRecorder
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Asked before every write: a leader that was stopped and continues must not go on. */
  readonly isLeader: () => boolean
  /** No job is planned before this long has passed since the start of the term, in ms. */
  readonly planDelayMs: number
}

const WORKERS = { jobs: 4, tasks: 32, marks: 4 }
const BACKOFF = { baseMs: 500, maxMs: 60_000 }

/**
 * One term of leadership: mirrors, queues and controllers. All that it knows begins with the term, nothing is carried over from
 * an earlier one, and nothing that matters is only here.
 */
export class Term {
  readonly options: TermOptions
  readonly signal: AbortSignal
  readonly jobs: Informer<NodeUpgradeJob>
  readonly guard: SchemaGuard
  readonly open: OpenJobs
  readonly teller: Teller
  readonly latest = {
    job: new Overlay<NodeUpgradeJob>((job) => job.metadata.resourceVersion),
    task: new Overlay<NodeUpgradeTask>((task) => task.metadata.resourceVersion),
    node: new Overlay<SlimNode>((node) => node.resourceVersion),
  }
  readonly queues: { readonly jobs: WorkQueue; readonly tasks: WorkQueue; readonly marks: WorkQueue }
  readonly #mayPlanAt: number

  constructor(options: TermOptions, signal: AbortSignal) {
    this.options = options
    this.signal = signal
    const { client, clock, log, metrics } = options
    this.#mayPlanAt = clock.monotonic() + options.planDelayMs
    this.jobs = new Informer({ client, resource: JOBS, clock, log, metrics })
    this.guard = new SchemaGuard(options)
    this.teller = new Teller(options)
    this.open = new OpenJobs(this)
    const jobs = new JobController(this)
    const tasks = new TaskController(this)
    const marks = new MarkController(this)
    this.queues = {
      jobs: this.#queue('jobs', (key) => jobs.reconcile(key)),
      tasks: this.#queue('tasks', (key) => tasks.reconcile(key)),
      marks: this.#queue('marks', (key) => marks.reconcile(key)),
    }
  }

  /** Leads until the signal aborts. */
  async run(): Promise<void> {
    const { nodes } = this.options
    const { signal } = this
    const stopListening = [
      this.jobs.onChange((change) => this.#onJob(change.key, () => this.latest.job.see(change))),
      nodes.onChange((change) => {
        this.latest.node.see(change)
        this.open.onNode(change)
      }),
    ]
    const mirrors = [this.jobs.run(signal), this.guard.run(signal)]
    try {
      await Promise.all([nodes.synced(signal), this.jobs.synced(signal), this.guard.synced(signal)])
      for (const node of nodes.list()) if (node.hold) this.queues.marks.add(node.name)
      const queues = Object.values(this.queues).map((queue) => queue.run(signal))
      await Promise.all([...queues, new Sweep(this).run()])
    } finally {
      for (const stop of stopListening) stop()
      await Promise.all([...mirrors, this.open.closeAll()])
    }
  }

  /** API-server time in ms. */
  now(): number {
    return this.options.client.serverNow()
  }

  /** How long a new leader still has to wait before it may plan, in ms. */
  planWaitMs(): number {
    return Math.max(0, this.#mayPlanAt - this.options.clock.monotonic())
  }

  node(name: string): SlimNode | undefined {
    return this.latest.node.latest(name, this.options.nodes.get(name))
  }

  job(name: string): NodeUpgradeJob | undefined {
    return this.latest.job.latest(name, this.jobs.get(name))
  }

  /** Every write of the controllers goes through here. @throws NotLeadingError */
  async write<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.signal.aborted || !this.options.isLeader()) throw new NotLeadingError()
    return send(this.signal)
  }

  #onJob(name: string, note: () => void): void {
    note()
    this.queues.jobs.add(name)
  }

  #queue(name: string, reconcile: (key: string) => Promise<{ requeueAfterMs?: number } | void>): WorkQueue {
    const { clock, log, metrics } = this.options
    const workers = WORKERS[name as keyof typeof WORKERS]
    return new WorkQueue({ name, workers, reconcile, clock, log, metrics, backoff: BACKOFF })
  }
}
