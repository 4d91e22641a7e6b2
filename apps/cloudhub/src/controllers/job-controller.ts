import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { KubeError } from '@upgrade-hub/kube'
import {
  decideJob,
  isFinished,
  type JobDecision,
  JobIndex,
  type JobWrite,
  NODE_FIELD_MANAGER,
  notPlanned,
  RELEASE_FINALIZER,
  toldOf,
} from '@upgrade-hub/rollout'
import { JOBS, TASKS } from '../kube-api.ts'
import { namesIn, type OpenJob, taskKey } from './open-jobs.ts'
import { Planner } from './planner.ts'
import type { Term } from './term.ts'

const CLOSED = new JobIndex()
const PAGE = 500
const RETRY_MS = 250
/** Timers hold no months. */
const MAX_WAIT_MS = 3_600_000

/** The shell around `decideJob`: opens and closes jobs, lets tasks go on, and writes the job. */
export class JobController {
  readonly #term: Term
  readonly #planner: Planner

  constructor(term: Term) {
    this.#term = term
    this.#planner = new Planner(term)
    term.guard.onChange(() => {
      for (const job of term.jobs.list()) term.queues.jobs.add(job.metadata.name)
    })
  }

  async reconcile(name: string): Promise<{ requeueAfterMs?: number } | void> {
    const job = this.#term.job(name)
    const open = this.#openOrClose(name, job)
    if (open && !open.tasks.hasSynced) return
    if (open) this.#tellTasks(open, job)
    if (!job || !this.#term.guard.isOurs) return
    const decision = this.#decide(job, open)
    if (open) this.#letGoOn(open, decision)
    if (open && decision.verifyMembers) return this.#verifyMembers(open)
    if (decision.write) return this.#apply(job, open, decision)
    return decision.wakeAt === undefined
      ? undefined
      : { requeueAfterMs: Math.min(MAX_WAIT_MS, Math.max(10, decision.wakeAt - this.#term.now())) }
  }

  #decide(job: NodeUpgradeJob, open: OpenJob | undefined): JobDecision {
    const waitMs = this.#term.planWaitMs()
    const decision = decideJob({
      job,
      index: open?.index ?? CLOSED,
      back: open?.back ?? CLOSED,
      ...(isFinished(job) ? { newer: this.#newerThan(job) } : {}),
      node: (name) => this.#term.node(name),
      now: this.#term.now(),
      mayPlan: open !== undefined && waitMs === 0,
      complete: open?.complete ?? false,
      pace: open?.pace ?? { flushedAt: 0, releasedAt: 0 },
    })
    const waits = waitMs > 0 && job.status?.plan === undefined
    return waits ? { ...decision, wakeAt: this.#term.now() + waitMs } : decision
  }

  /** A job is open from our finalizer to its end, and again while it is deleted. */
  #openOrClose(name: string, job: NodeUpgradeJob | undefined): OpenJob | undefined {
    const known = this.#term.open.get(name)
    if (!job) {
      if (known?.tasks.hasSynced && known.index.counts.held + known.back.counts.held === 0)
        this.#term.open.close(name)
      return this.#term.open.get(name)
    }
    const begun = job.metadata.finalizers?.includes(RELEASE_FINALIZER) ?? false
    if (begun && (job.metadata.deletionTimestamp || !isFinished(job))) {
      return this.#term.open.open(name, job.metadata.uid ?? '')
    }
    this.#term.open.close(name)
    return undefined
  }

  /** Wakes every task when the job says something else to them than before; else only those it is about. */
  #tellTasks(open: OpenJob, job: NodeUpgradeJob | undefined): void {
    const told = toldOf(job)
    const extra = job && open.index.size > (job.status?.plan?.total ?? Number.POSITIVE_INFINITY)
    open.strays = extra ? notPlanned(job, open.index) : new Set()
    const woken = told === open.told ? open.strays : namesIn(open)
    open.told = told
    for (const task of woken) this.#term.queues.tasks.add(taskKey(open.name, task))
  }

  #letGoOn(open: OpenJob, { prepare = [], release = [] }: JobDecision): void {
    open.permitted = new Set(prepare)
    for (const task of [...prepare, ...release]) this.#term.queues.tasks.add(taskKey(open.name, task))
  }

  async #apply(
    job: NodeUpgradeJob,
    open: OpenJob | undefined,
    decision: JobDecision,
  ): Promise<{ requeueAfterMs?: number } | void> {
    const { write } = decision
    if (!write) return
    try {
      const stored = await this.#send(job, open, write)
      this.#term.latest.job.put(job.metadata.name, stored)
    } catch (error) {
      if (!(error instanceof KubeError) || !(error.isConflict || error.isUnknownOutcome || error.isNotFound))
        throw error
      this.#term.teller.refused('job', error.code)
      await this.#readBack(job.metadata.name)
      return { requeueAfterMs: RETRY_MS }
    }
    this.#term.teller.events(decision.events, { job })
    this.#term.queues.jobs.add(job.metadata.name)
  }

  async #send(job: NodeUpgradeJob, open: OpenJob | undefined, write: JobWrite): Promise<NodeUpgradeJob> {
    const { client } = this.#term.options
    const { name, resourceVersion } = job.metadata
    const options = { fieldManager: NODE_FIELD_MANAGER }
    if (write.target === 'finalizers') {
      const body = { metadata: { resourceVersion, finalizers: write.finalizers } }
      return this.#term.write((signal) => client.patch(JOBS, name, body, { ...options, signal }))
    }
    if (write.target === 'delete') return this.#delete(job)
    if (write.target === 'plan') return this.#planner.plan(job, open)
    if (write.target === 'rollback') return this.#planner.planWayBack(job, open, write.reason)
    const body = { metadata: { resourceVersion }, status: write.status }
    const stored = await this.#term.write((signal) =>
      client.patch(JOBS, name, body, { ...options, subresource: 'status', signal }),
    )
    if (open) this.#keepPace(open, write)
    return stored
  }

  /** The finalizer then takes its course. */
  async #delete(job: NodeUpgradeJob): Promise<NodeUpgradeJob> {
    const { client } = this.#term.options
    const { name, uid = '', resourceVersion = '' } = job.metadata
    await this.#term.write((signal) => client.delete(JOBS, name, { uid, resourceVersion, signal }))
    return job
  }

  /** How many jobs have finished after one. */
  #newerThan({ status }: NodeUpgradeJob): number {
    const ended = status?.completionTime ?? ''
    return this.#term.jobs
      .list()
      .filter((other) => isFinished(other) && (other.status?.completionTime ?? '') > ended).length
  }

  #keepPace(open: OpenJob, write: JobWrite & { target: 'status' }): void {
    const now = this.#term.now()
    const { flushedAt, releasedAt } = open.pace
    open.pace = {
      flushedAt: write.flush ? now : flushedAt,
      releasedAt: write.release ? now : releasedAt,
    }
  }

  async #readBack(name: string): Promise<void> {
    try {
      const { client } = this.#term.options
      this.#term.latest.job.put(name, await client.get(JOBS, name, { signal: this.#term.signal }))
    } catch (error) {
      if (!(error instanceof KubeError && error.isNotFound)) throw error
    }
  }

  /** Some planned tasks are not in the mirror: asks the API server itself before it is believed that they are gone. */
  async #verifyMembers(open: OpenJob): Promise<{ requeueAfterMs: number }> {
    const { client } = this.#term.options
    const { signal } = this.#term
    let next: string | undefined
    do {
      const page = await client.list(TASKS, {
        fieldSelector: `spec.jobName=${open.name}`,
        limit: PAGE,
        ...(next ? { continue: next } : {}),
        signal,
      })
      for (const task of page.items) this.#term.open.put(open, task)
      next = page.metadata.continue
    } while (next)
    open.complete = true
    return { requeueAfterMs: 0 }
  }
}
