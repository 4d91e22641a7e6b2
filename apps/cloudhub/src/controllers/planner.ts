import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { CREATE_TIMEOUT_MS, KubeError } from '@upgrade-hub/kube'
import {
  jobPlan,
  NODE_FIELD_MANAGER,
  nodeCount,
  planPatch,
  resolveTargets,
  rollBackPatch,
  taskObject,
  tasksBack,
} from '@upgrade-hub/rollout'
import { ForeignTaskError } from '../errors.ts'
import { JOBS, TASKS } from '../kube-api.ts'
import type { OpenJob } from './open-jobs.ts'
import type { Term } from './term.ts'

/** Creates that run at the same time. */
const PARALLEL = 32

/**
 * Freezes the membership of a job: a task for every target, and when all exist the plan, which is the commit point. Before it
 * a crash only means that the next leader resolves again and unites what it finds with what exists.
 */
export class Planner {
  readonly #term: Term

  constructor(term: Term) {
    this.#term = term
  }

  /** The job as stored with its plan. */
  async plan(job: NodeUpgradeJob, open: OpenJob | undefined): Promise<NodeUpgradeJob> {
    const { client, nodes } = this.#term.options
    const plan = jobPlan(job)
    const lookup = { get: (name: string) => this.#term.node(name), list: () => nodes.list() }
    const wanted = resolveTargets(job, plan, lookup).map((target) => taskObject(job, plan, target))
    const missing = wanted.filter((task) => !open?.index.get(task.metadata.name))
    await inParallel(missing, (task) => this.#create(task, open))
    const names = new Set([...(open?.index.names() ?? []), ...wanted.map((task) => task.metadata.name)])
    const now = this.#term.now()
    const { name, resourceVersion } = job.metadata
    const body = { metadata: { resourceVersion }, status: planPatch(job, [...names], now) }
    const stored = await this.#term.write((signal) =>
      client.patch(JOBS, name, body, { subresource: 'status', fieldManager: NODE_FIELD_MANAGER, signal }),
    )
    const note = `${nodeCount(names.size)} to upgrade to ${plan.version}`
    this.#term.teller.events([{ on: 'job', type: 'Normal', reason: 'Accepted', note }], { job })
    return stored
  }

  /** Freezes which nodes go back: those that were upgraded. */
  async planWayBack(
    job: NodeUpgradeJob,
    open: OpenJob | undefined,
    reason: Parameters<typeof rollBackPatch>[0],
  ): Promise<NodeUpgradeJob> {
    const { client } = this.#term.options
    const node = (name: string) => this.#term.node(name)
    const wanted = open ? tasksBack({ job, index: open.index, node }) : []
    await inParallel(wanted, (task) => this.#create(task, open))
    const { name, resourceVersion } = job.metadata
    const names = wanted.map((task) => task.metadata.name)
    const body = { metadata: { resourceVersion }, status: rollBackPatch(reason, names) }
    const stored = await this.#term.write((signal) =>
      client.patch(JOBS, name, body, { subresource: 'status', fieldManager: NODE_FIELD_MANAGER, signal }),
    )
    const note = `${reason}: ${names.length} upgraded nodes go back to their old version`
    this.#term.teller.events([{ on: 'job', type: 'Warning', reason: 'RollBackStarted', note }], { job })
    return stored
  }

  async #create(task: NodeUpgradeTask, open: OpenJob | undefined): Promise<void> {
    const { client } = this.#term.options
    const options = { fieldManager: NODE_FIELD_MANAGER, timeoutMs: CREATE_TIMEOUT_MS }
    try {
      // Not torn off at the end of the term: a leader that ends in order leaves no create behind that may still arrive.
      const created = await this.#term.write(() => client.create(TASKS, task, options))
      if (open) this.#term.open.put(open, created)
    } catch (error) {
      if (!(error instanceof KubeError && error.isAlreadyExists)) throw error
      await this.#adopt(task, open)
    }
  }

  /** The create of an earlier try has arrived after all. A task of another owner is never taken over. */
  async #adopt(task: NodeUpgradeTask, open: OpenJob | undefined): Promise<void> {
    const { client } = this.#term.options
    const stored = await client.get(TASKS, task.metadata.name, { signal: this.#term.signal })
    if (stored.spec.owner.uid !== task.spec.owner.uid) throw new ForeignTaskError(task.metadata.name)
    if (open) this.#term.open.put(open, stored)
  }
}

/** Runs all, a few at a time; the first failure is thrown once what had begun has ended. */
async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  let hasFailed = false
  const work = async () => {
    for (const item of rest) {
      if (hasFailed) return
      try {
        await run(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const workers = Array.from({ length: Math.min(PARALLEL, items.length) }, work)
  await Promise.allSettled(workers)
  await Promise.all(workers)
}
