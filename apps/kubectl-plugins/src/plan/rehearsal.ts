import { HOLD_ANNOTATION, type Node, type NodeUpgradeJob, type NodeUpgradeTask } from '@upgrade-hub/api'
import {
  decideJob,
  decideTask,
  isEnd,
  isFinished,
  type JobWrite,
  jobPlan,
  planPatch,
  resolveTargets,
  statusOf,
  type TaskWrite,
  taskObject,
  toldOf,
} from '@upgrade-hub/rollout'
import { atWork, type Durations, edgeWords } from './ideal-edge.ts'
import { Imagined } from './imagined.ts'
import { mergePatch } from './merge-patch.ts'

/** Decisions before a rehearsal is taken to lead nowhere: many more than any job of its size needs. */
const STEPS_PER_NODE = 60
const STEPS = 20_000

/** When something happens on a node, ms since the job's start. */
export interface Turn {
  readonly node: string
  readonly wave: number
  readonly refused?: { readonly reason: string; readonly message: string }
  /** It is taken. */
  takenAt?: number
  endedAt?: number
}

/** What a job would do if every node did what it was asked in the usual time. */
export interface Rehearsed {
  readonly turns: readonly Turn[]
  /** The job as it would be at its end. */
  readonly job: NodeUpgradeJob
  readonly endedAt?: number
  /** Waves that were taken to be approved at once. */
  readonly approved: readonly string[]
  /** Nodes that are away or busy and were taken to be back at once. */
  readonly away: readonly string[]
}

/**
 * Runs a job that does not exist, on time that does not pass: the hub's own decisions, answered by nodes that do well. Nothing
 * is read or written.
 */
export function rehearse(
  job: NodeUpgradeJob,
  { nodes, durations, now }: { nodes: readonly Node[]; durations: Durations; now: number },
): Rehearsed {
  return new Rehearsal(job, nodes, durations, now).run()
}

class Rehearsal {
  readonly #imagined: Imagined
  readonly #durations: Durations
  readonly #start: number
  readonly #turns = new Map<string, Turn>()
  readonly #approved: string[] = []
  readonly #away: string[] = []
  /** Tasks to be asked again, and what edges are about to say, by task. */
  readonly #dirty = new Set<string>()
  readonly #said = new Map<string, { at: number; seq: number }>()
  readonly #wakes = new Map<string, number>()
  #permitted: ReadonlySet<string> = new Set()
  #now: number

  constructor(job: NodeUpgradeJob, nodes: readonly Node[], durations: Durations, now: number) {
    this.#imagined = new Imagined(job, nodes)
    this.#durations = durations
    this.#start = now
    this.#now = now
    this.#plan()
  }

  run(): Rehearsed {
    let left = STEPS + STEPS_PER_NODE * this.#imagined.tasks.size
    while (!isFinished(this.#imagined.job) && left-- > 0) {
      const { hasWritten, wakeAt } = this.#decideJob()
      const hasMoved = this.#decideTasks()
      if (hasWritten || hasMoved) continue
      if (!this.#approve() && !this.#advance(wakeAt)) break
    }
    return {
      turns: [...this.#turns.values()],
      job: this.#imagined.job,
      ...(isFinished(this.#imagined.job) ? { endedAt: this.#now - this.#start } : {}),
      approved: this.#approved,
      away: this.#away,
    }
  }

  #plan(): void {
    const plan = jobPlan(this.#imagined.job)
    const lookup = { get: (name: string) => this.#imagined.node(name), list: () => this.#imagined.nodes() }
    for (const target of resolveTargets(this.#imagined.job, plan, lookup)) {
      const task = taskObject(this.#imagined.job, plan, target)
      const { name } = task.metadata
      const { nodeName: node, wave, verdict, reason = '', message = '' } = target
      this.#turns.set(name, {
        node,
        wave,
        ...(verdict === 'Refused' ? { refused: { reason, message } } : {}),
      })
      if (verdict === 'Run') this.#callBack(node)
      this.#imagined.putTask({ ...task, metadata: { ...task.metadata, uid: name } }, this.#now)
      this.#dirty.add(name)
    }
    this.#keepJob(planPatch(this.#imagined.job, [...this.#imagined.tasks.keys()], this.#now))
  }

  /** A node that is away, or that another upgrade holds, may be waited for: when that is over nobody knows. */
  #callBack(name: string): void {
    const node = this.#imagined.node(name)
    if (!node || (node.ready && !node.hold)) return
    this.#away.push(name)
    const annotations = { [HOLD_ANNOTATION]: null }
    const unschedulable = node.hold ? node.hold.previousUnschedulable : node.unschedulable
    this.#imagined.patchNode(name, {
      metadata: { annotations },
      spec: { unschedulable },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    })
  }

  #decideJob(): { hasWritten: boolean; wakeAt: number | undefined } {
    const decision = decideJob({
      job: this.#imagined.job,
      index: this.#imagined.index,
      node: (name) => this.#imagined.node(name),
      now: this.#now,
      mayPlan: true,
      complete: true,
      // Counters and rows are for those who watch: nobody does.
      pace: { flushedAt: Number.POSITIVE_INFINITY, releasedAt: 0 },
    })
    this.#permitted = new Set(decision.prepare)
    for (const name of [...this.#permitted, ...(decision.release ?? [])]) this.#dirty.add(name)
    if (decision.write) this.#writeJob(decision.write)
    return { hasWritten: decision.write !== undefined, wakeAt: decision.wakeAt }
  }

  #writeJob(write: JobWrite): void {
    if (write.target !== 'status') return
    this.#keepJob(write.status)
    for (const { task } of this.#imagined.job.status?.releasing ?? []) this.#dirty.add(task)
  }

  #keepJob(status: object): void {
    const { releasing = [] } = this.#imagined.job.status ?? {}
    const told = toldOf(this.#imagined.job)
    this.#imagined.patchStatus(status)
    const changed = toldOf(this.#imagined.job) === told ? [] : this.#imagined.tasks.keys()
    for (const name of [...changed, ...releasing.map(({ task }) => task)]) this.#dirty.add(name)
  }

  /** @returns whether anything was written */
  #decideTasks(): boolean {
    let moved = false
    for (const name of this.#dirty) {
      this.#dirty.delete(name)
      const task = this.#imagined.tasks.get(name)
      if (!task || isEnd(statusOf(task).phase)) continue
      const { write, wakeAt } = decideTask(this.#view(task))
      if (write) {
        this.#writeTask(task, write)
        moved = true
      } else if (wakeAt !== undefined) this.#wakes.set(name, wakeAt)
    }
    return moved
  }

  #view(task: NodeUpgradeTask) {
    const { name } = task.metadata
    const { attempt = 0 } = statusOf(task)
    const isReleased = this.#imagined.job.status?.releasing?.some(
      (entry) => entry.task === name && entry.attempt === attempt,
    )
    return {
      job: this.#imagined.job,
      task,
      node: this.#imagined.node(task.spec.nodeName),
      released: isReleased ?? false,
      mayPrepare: this.#permitted.has(name),
      planned: true,
      resultSeenAt: this.#now,
      // How long its pods take to go nobody knows.
      pods: [],
      now: this.#now,
    }
  }

  #writeTask(task: NodeUpgradeTask, write: TaskWrite): void {
    const { name } = task.metadata
    if (write.target === 'node') return this.#writeNode(task, write.patch)
    if (write.target === 'finalizers') return
    const stored = { ...task, status: mergePatch(statusOf(task), write.status) }
    this.#wakes.delete(name)
    this.#imagined.putTask(stored, this.#now)
    this.#dirty.add(name)
    const { intent, phase } = stored.status
    const seq = intent?.seq ?? 0
    const turn = this.#turns.get(name)
    if (turn && isEnd(phase)) turn.endedAt = this.#now - this.#start
    if (!isEnd(phase) && seq > (statusOf(task).intent?.seq ?? 0)) {
      const ms = intent?.verb === 'proceed' ? this.#durations.proceedMs : this.#durations.prepareMs
      this.#said.set(name, { at: this.#now + ms, seq })
      this.#imagined.putTask({ ...stored, status: { ...stored.status, edge: atWork(stored) } }, this.#now)
    }
  }

  #writeNode(task: NodeUpgradeTask, patch: object): void {
    this.#imagined.patchNode(task.spec.nodeName, patch)
    const turn = this.#turns.get(task.metadata.name)
    if (turn) turn.takenAt ??= this.#now - this.#start
    this.#dirty.add(task.metadata.name)
  }

  /** Moves time on to what comes next; false when nothing does. */
  #advance(jobWakeAt = Number.POSITIVE_INFINITY): boolean {
    const next = Math.min(jobWakeAt, ...[...this.#said.values()].map(({ at }) => at), ...this.#wakes.values())
    if (!Number.isFinite(next)) return false
    this.#now = Math.max(next, this.#now + 1)
    for (const [name, at] of this.#wakes) {
      if (at > this.#now) continue
      this.#wakes.delete(name)
      this.#dirty.add(name)
    }
    for (const [name, { at, seq }] of this.#said) if (at <= this.#now) this.#hear(name, seq)
    return true
  }

  /** The edge answers the intent that it was asked with. */
  #hear(name: string, seq: number): void {
    this.#said.delete(name)
    const task = this.#imagined.tasks.get(name)
    if (!task || statusOf(task).intent?.seq !== seq) return
    const node = this.#imagined.node(task.spec.nodeName)
    const edge = edgeWords(task, node, this.#now)
    if (edge.results)
      this.#imagined.patchNode(task.spec.nodeName, {
        status: { nodeInfo: { kubeletVersion: task.spec.version } },
      })
    this.#imagined.putTask({ ...task, status: { ...statusOf(task), edge } }, this.#now)
    this.#dirty.add(name)
  }

  #approve(): boolean {
    const wave = this.#imagined.job.status?.waves?.find(({ state }) => state === 'WaitingForApproval')?.name
    if (!wave || this.#approved.includes(wave)) return false
    this.#approved.push(wave)
    this.#imagined.approve(wave)
    return true
  }
}
