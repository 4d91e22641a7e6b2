import type { Clock, Logger, Metrics } from '@upgrade-hub/core'
import type { Answer, Progress } from '@upgrade-hub/protocol'
import { HttpError } from '../../errors.ts'
import { Gate } from '../../http/gate.ts'
import type { ResultReport } from '../edge-status/decision.ts'
import type { ResultOutcome } from '../routes/results.ts'
import type { EdgeWriter, TaskCache } from './edge-writer.ts'
import { TaskReports } from './task-reports.ts'

export interface ReportsOptions {
  readonly writer: Pick<EdgeWriter, 'write'>
  readonly cache: TaskCache
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** Tasks with something to say at once in this process. */
const MAX_TASKS = 20_000
/** More at once only wait in the API server instead of here. */
const WRITES = { running: 128, waiting: MAX_TASKS }

/**
 * Everything that edges report, by task: each task is written by one writer at a time, and in as few writes as the
 * promises to its edge allow.
 */
export class Reports {
  readonly #options: ReportsOptions
  readonly #tasks = new Map<string, TaskReports>()
  readonly #dropped
  readonly #writes = new Gate(WRITES)

  constructor(options: ReportsOptions) {
    this.#options = options
    this.#dropped = options.metrics.counter(
      'upgradehub_reports_dropped_total',
      'Answers and progress about tasks that are not active, not of their node, or not known here.',
    )
  }

  /** An answer; the last word is stored at once, `accepted` only when preparing takes longer. */
  answer(nodeName: string, body: Answer, timeZone?: string): void {
    const reports = this.#ofActive(nodeName, body)
    const message = { kind: 'answer', nodeName, body, ...(timeZone ? { timeZone } : {}) } as const
    if (body.Value === 'accepted') reports?.paced(message)
    else reports?.soon(message)
  }

  progress(nodeName: string, body: Progress): void {
    this.#ofActive(nodeName, body)?.paced({ kind: 'progress', nodeName, body })
  }

  /** Resolves once the result is stored or refused for good. @throws HubError while that cannot be said */
  async result(nodeName: string, task: string, body: ResultReport): Promise<ResultOutcome> {
    const reports = this.#of(task)
    if (!reports) throw new HttpError(503, 'BUSY', 'too many reports wait', { retryAfterSeconds: 5 })
    const decision = await reports.now({ kind: 'result', nodeName, body })
    return decision.kind === 'already' ? { kind: 'stored' } : { ...decision, kind: 'refused' }
  }

  get size(): number {
    return this.#tasks.size
  }

  stop(): void {
    for (const reports of this.#tasks.values())
      reports.dispose(new HttpError(503, 'STOPPING', 'this hub stops'))
    this.#tasks.clear()
  }

  /** What is said of a task that nobody here waits for needs no look at the API server: an answer will come again. */
  #ofActive(nodeName: string, { Task, TaskUID }: { Task: string; TaskUID: string }): TaskReports | undefined {
    const task = this.#options.cache.get(Task)
    const isTheirs = task?.spec.nodeName === nodeName && task.metadata.uid === TaskUID
    const reports = isTheirs ? this.#of(Task) : undefined
    if (!reports) this.#dropped.inc()
    return reports
  }

  /** Undefined when there are too many already. */
  #of(task: string): TaskReports | undefined {
    const known = this.#tasks.get(task)
    if (known || this.#tasks.size >= MAX_TASKS) return known
    const { writer, clock, log } = this.#options
    const reports = new TaskReports({
      write: (messages) => this.#writes.run(() => writer.write(task, messages)),
      onIdle: () => void this.#tasks.delete(task),
      clock,
      log: log.child({ task }),
    })
    this.#tasks.set(task, reports)
    return reports
  }
}
