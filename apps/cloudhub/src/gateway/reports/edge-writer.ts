import type { NodeUpgradeTask, TaskEdge } from '@upgrade-hub/api'
import type { Counter, Logger, Metrics } from '@upgrade-hub/core'
import { KubeError } from '@upgrade-hub/kube'
import { StoreError } from '../../errors.ts'
import { JOBS, type KubeApi, TASKS } from '../../kube-api.ts'
import { cutDown } from '../edge-status/cut-down.ts'
import { ALREADY, type EdgeDecision, type EdgeMessage } from '../edge-status/decision.ts'
import { foldEdge } from '../edge-status/fold.ts'
import { mergePatch } from '../edge-status/merge-patch.ts'

/** What the informer of active tasks gives. */
export interface TaskCache {
  get(name: string): NodeUpgradeTask | undefined
}

const MAX_TRIES = 8
const UNKNOWN_TASK: StoredDecision = {
  kind: 'refuse',
  code: 'UNKNOWN_TASK',
  message: 'there is no such task',
}

/** Whether a message is stored: `already` after a write too, because only what was read back counts. */
export type StoredDecision = Exclude<EdgeDecision, { readonly kind: 'patch' }>

/** A task as it was read: from the cache, which may lag, or from the API server. */
interface Copy {
  readonly task: NodeUpgradeTask | undefined
  readonly isLive: boolean
}

type Patched =
  | { readonly kind: 'stored'; readonly task: NodeUpgradeTask }
  /** Somebody was faster, or nobody knows what became of it. */
  | { readonly kind: 'read-again' }
  /** Our bug, or a schema that is not ours. */
  | { readonly kind: 'invalid' }

type Step =
  | { readonly kind: 'done'; readonly decisions: readonly StoredDecision[] }
  | Exclude<Patched, { readonly kind: 'stored' }>

/**
 * Stores what edges say in `task.status.edge` and nowhere else: one merge patch on /status for a batch, with the
 * resourceVersion of an object whose UID was checked. What is refused is refused by the live object only.
 */
export class EdgeWriter {
  readonly #client: KubeApi
  readonly #cache: TaskCache
  readonly #log: Logger
  readonly #writes: Counter

  constructor(options: { client: KubeApi; cache: TaskCache; log: Logger; metrics: Metrics }) {
    this.#client = options.client
    this.#cache = options.cache
    this.#log = options.log
    this.#writes = options.metrics.counter(
      'upgradehub_edge_writes_total',
      'Patches of what edges say, by what became of them.',
      ['outcome'],
    )
  }

  /**
   * One decision for each message, in their order. @throws KubeError while the API server is away, StoreError when it
   * does not keep what it was sent: then nothing may be acknowledged.
   */
  async write(name: string, messages: readonly EdgeMessage[]): Promise<readonly StoredDecision[]> {
    const cached = this.#cache.get(name)
    let copy: Copy = cached ? { task: cached, isLive: false } : await this.#read(name)
    let isCut = false
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const step = await this.#step(copy, messages, isCut)
      if (step.kind === 'done') return step.decisions
      if (step.kind === 'invalid' && isCut) break
      isCut ||= step.kind === 'invalid'
      copy = await this.#read(name)
    }
    throw new StoreError(`the task ${name} does not take what its node says`)
  }

  /** One decision on one copy of the task, and the write that it asks for. */
  async #step({ task, isLive }: Copy, messages: readonly EdgeMessage[], isCut: boolean): Promise<Step> {
    if (!task) return { kind: 'done', decisions: messages.map(() => UNKNOWN_TASK) }
    const known = await this.#withJobState(task, messages)
    const said = isCut ? cutDown(known) : known
    const { decisions, edge } = foldEdge(task, said)
    if (!isLive && decisions.some((decision) => decision.kind === 'refuse')) return { kind: 'read-again' }
    if (!edge) return { kind: 'done', decisions: settled(task, known) }
    const patched = await this.#patch(task, edge)
    if (patched.kind !== 'stored') return patched
    return { kind: 'done', decisions: this.#readBack(patched.task, said, known) }
  }

  /** What was sent must be in what came back: a schema that is not ours prunes silently. */
  #readBack(
    stored: NodeUpgradeTask,
    said: readonly EdgeMessage[],
    known: readonly EdgeMessage[],
  ): readonly StoredDecision[] {
    if (!foldEdge(stored, said).edge) return settled(stored, known)
    this.#writes.inc({ outcome: 'pruned' })
    throw new StoreError(`the API server did not keep what was written to the task ${stored.metadata.name}`)
  }

  async #patch(task: NodeUpgradeTask, edge: TaskEdge): Promise<Patched> {
    const { name, resourceVersion } = task.metadata
    const status = { edge: mergePatch(task.status?.edge ?? {}, edge) }
    try {
      const body = { metadata: { resourceVersion }, status }
      const stored = await this.#client.patch(TASKS, name, body, { subresource: 'status' })
      this.#writes.inc({ outcome: 'stored' })
      return { kind: 'stored', task: stored }
    } catch (error) {
      return this.#afterFailure(name, error)
    }
  }

  #afterFailure(name: string, error: unknown): Patched {
    if (!(error instanceof KubeError)) throw error
    const outcome = failureOf(error)
    this.#writes.inc({ outcome })
    if (outcome === 'invalid') {
      this.#log.error(
        { task: name, causes: error.causes },
        'the API server refuses a report against our own rules',
      )
      return { kind: 'invalid' }
    }
    if (outcome === 'failed') throw error
    return { kind: 'read-again' }
  }

  /** Only a task whose end is not known asks whether its job is still open. */
  async #withJobState(
    task: NodeUpgradeTask,
    messages: readonly EdgeMessage[],
  ): Promise<readonly EdgeMessage[]> {
    if (task.status?.phase !== 'Unknown' || !messages.some((message) => message.kind === 'result'))
      return messages
    const jobClosed = await this.#isClosed(task)
    return messages.map((message) =>
      message.kind === 'result' ? { ...message, body: { ...message.body, jobClosed } } : message,
    )
  }

  async #isClosed({ spec }: NodeUpgradeTask): Promise<boolean> {
    try {
      const job = await this.#client.get(JOBS, spec.jobName)
      const isFinished = job.status?.conditions?.some((c) => c.type === 'Finished' && c.status === 'True')
      return job.metadata.uid !== spec.owner.uid || (isFinished ?? false)
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return true
      throw error
    }
  }

  async #read(name: string): Promise<Copy> {
    try {
      return { task: await this.#client.get(TASKS, name), isLive: true }
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return { task: undefined, isLive: true }
      throw error
    }
  }
}

/** What a stored task says to the messages; the rest of one that had to be cut down counts as stored with its verdict. */
function settled(task: NodeUpgradeTask, messages: readonly EdgeMessage[]): readonly StoredDecision[] {
  return foldEdge(task, messages).decisions.map((decision) =>
    decision.kind === 'patch' ? ALREADY : decision,
  )
}

function failureOf(error: KubeError): 'conflict' | 'stale' | 'unknown' | 'invalid' | 'failed' {
  if (error.isConflict || error.isNotFound) return 'conflict'
  if (error.isUnknownOutcome) return 'unknown'
  if (!error.isInvalid) return 'failed'
  const isStale =
    error.causes.length > 0 && error.causes.every(({ message }) => /(^|: )Stale: /.test(message ?? ''))
  return isStale ? 'stale' : 'invalid'
}
