import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { type Clock, silentLogger } from '@upgrade-hub/core'
import { Informer } from '@upgrade-hub/kube'
import { JobIndex } from '@upgrade-hub/rollout'
import { type Cluster, fieldSelectorOf } from '../cluster/cluster.ts'
import { JOBS, TASKS } from '../cluster/resources.ts'

/** The API server confirms a watch at least once a minute. */
const SILENT_MS = 75_000

export interface JobMirrorListener {
  job(job: NodeUpgradeJob | undefined): void
  task(task: NodeUpgradeTask): void
}

/** One job and its tasks, kept up to date. */
export class JobMirror {
  readonly index = new JobIndex()
  readonly #jobs: Informer<NodeUpgradeJob>
  readonly #tasks: Informer<NodeUpgradeTask>
  readonly #name: string

  constructor(cluster: Cluster, name: string, clock: Clock) {
    const common = { client: cluster.client, clock, log: silentLogger }
    this.#name = name
    this.#jobs = new Informer({ ...common, resource: JOBS, fieldSelector: `metadata.name=${name}` })
    this.#tasks = new Informer({ ...common, resource: TASKS, fieldSelector: fieldSelectorOf({ job: name }) })
    this.#tasks.onChange(({ type, item }) => {
      if (type === 'deleted') this.index.remove(item.metadata.name)
      else this.index.upsert(item, cluster.now())
    })
  }

  get job(): NodeUpgradeJob | undefined {
    return this.#jobs.get(this.#name)
  }

  /** How long nothing was heard, ms; 0 while that is as usual. */
  get silentMs(): number {
    const ms = Math.max(this.#jobs.staleMs(), this.#tasks.staleMs())
    return ms > SILENT_MS && Number.isFinite(ms) ? ms : 0
  }

  onChange(listener: JobMirrorListener): void {
    this.#jobs.onChange(({ type, item }) => listener.job(type === 'deleted' ? undefined : item))
    this.#tasks.onChange(({ type, item }) => {
      if (type !== 'deleted') listener.task(item)
    })
  }

  /** Mirrors until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#jobs.run(signal), this.#tasks.run(signal)])
  }

  /** Resolves when all that is stored is here. */
  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#jobs.synced(signal), this.#tasks.synced(signal)])
  }
}
