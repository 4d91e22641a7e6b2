import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import {
  decideJob,
  decideTask,
  endedPatch,
  holds,
  isEnd,
  isFinished,
  JobIndex,
  jobPlan,
  notPlanned,
  planPatch,
  resolveTargets,
  restorePatch,
  resultOf,
  rollBackPatch,
  type SlimNode,
  slimNode,
  statusOf,
  type TaskView,
  taskObject,
  tasksBack,
  toldOf,
} from '@upgrade-hub/rollout'
import { type Answer, type Event, type Kinds, OURS, type SimApi, type Stored } from './api.ts'
import type { World } from './world.ts'

const SWEEP_MS = 60_000

interface Mirror<T> {
  readonly items: Map<string, T>
  /** When the last event is delivered: they keep their order. */
  at: number
}

/** The leader in virtual time: the shells of the hub around the real decisions, with mirrors that lag and answers that get lost. */
export class SimHub {
  readonly #world: World
  readonly #api: SimApi
  readonly #jobs: Mirror<NodeUpgradeJob> = { items: new Map(), at: 0 }
  readonly #tasks: Mirror<NodeUpgradeTask> = { items: new Map(), at: 0 }
  readonly #nodes: Mirror<SlimNode> = { items: new Map(), at: 0 }
  readonly #index = new JobIndex()
  readonly #back = new JobIndex()
  readonly #pace = { flushedAt: 0, releasedAt: 0 }
  readonly #seenAt = new Map<string, number>()
  readonly #running = new Set<string>()
  readonly #again = new Set<string>()
  readonly #planFrom: number
  readonly #jobName: string
  readonly #stopWatching: () => void
  #permitted: ReadonlySet<string> = new Set()
  #told = ''
  #complete = false
  #isDead = false

  constructor(world: World, api: SimApi, options: { jobName: string; planDelayMs: number }) {
    this.#world = world
    this.#api = api
    this.#jobName = options.jobName
    this.#planFrom = world.now + options.planDelayMs
    for (const kind of ['job', 'task', 'node'] as const) {
      for (const object of api.all(kind))
        this.#mirror({ kind, type: 'put', object: object as Stored, version: 0 })
    }
    this.#stopWatching = api.watch((event) => this.#later(event))
    this.#wakeAll()
    this.#sweep()
  }

  /** kill -9: nothing more is decided, but what was sent may still arrive. */
  kill(): void {
    this.#isDead = true
    this.#stopWatching()
  }

  #later(event: Event): void {
    const mirror = event.kind === 'job' ? this.#jobs : event.kind === 'task' ? this.#tasks : this.#nodes
    mirror.at = Math.max(mirror.at, this.#world.now + this.#world.random.int(1, 80))
    this.#world.after(mirror.at - this.#world.now, () => {
      if (!this.#isDead) this.#mirror(event)
    })
  }

  #mirror({ kind, type, object }: Event): void {
    const { name } = object.metadata
    const isGone = type === 'deleted'
    if (kind === 'job') {
      put(
        this.#jobs.items,
        name,
        isGone ? undefined : newer(this.#jobs.items.get(name), object as NodeUpgradeJob),
      )
    }
    if (kind === 'node' && isGone) this.#nodes.items.delete(name)
    if (kind === 'node' && !isGone) this.#keepNode(slimNode(object as Kinds['node']))
    if (kind === 'task') {
      put(
        this.#tasks.items,
        name,
        isGone ? undefined : newer(this.#tasks.items.get(name), object as NodeUpgradeTask),
      )
      this.#place(name)
      this.#add(`task/${name}`)
    }
    if (kind === 'node') this.#onNode(name)
    this.#add(`job/${this.#jobName}`)
  }

  #onNode(name: string): void {
    const node = this.#nodes.items.get(name)
    this.#index.observe(name, node)
    if (node?.hold) this.#add(`mark/${name}`)
    for (const task of this.#tasks.items.values())
      if (task.spec.nodeName === name) this.#add(`task/${task.metadata.name}`)
  }

  #place(name: string): NodeUpgradeTask | undefined {
    const task = this.#tasks.items.get(name)
    const state = () => (this.#index.get(name) ?? this.#back.get(name))?.state
    const before = state()
    const index = task?.spec.purpose === 'RollBack' ? this.#back : this.#index
    if (task) index.upsert(task, this.#world.now, this.#nodes.items.get(task.spec.nodeName))
    else for (const tasks of [this.#index, this.#back]) tasks.remove(name)
    if (state() !== before) this.#add(`job/${this.#jobName}`)
    return task
  }

  #wakeAll(): void {
    for (const name of this.#tasks.items.keys()) this.#add(`task/${name}`)
    this.#add(`job/${this.#jobName}`)
  }

  #sweep(): void {
    if (this.#isDead) return
    for (const [name, node] of this.#nodes.items) if (node.hold) this.#add(`mark/${name}`)
    this.#world.after(SWEEP_MS, () => this.#sweep())
  }

  #add(key: string): void {
    if (this.#running.has(key)) return void this.#again.add(key)
    this.#running.add(key)
    this.#world.after(this.#world.random.int(0, 3), () => {
      if (this.#isDead) return
      if (key.startsWith('task/')) this.#task(key)
      else if (key.startsWith('mark/')) this.#mark(key)
      else this.#job(key)
    })
  }

  #done(key: string, waitMs?: number): void {
    this.#running.delete(key)
    if (this.#again.delete(key)) this.#add(key)
    else if (waitMs !== undefined)
      this.#world.after(waitMs, () => (this.#isDead ? undefined : this.#add(key)))
  }

  /** A refused write waits a little and looks again; an unknown one too: the state says what it came to. */
  #write<T>(key: string, run: () => Answer<T>, then: (object: T) => void): void {
    this.#api.call(run, (answer) => {
      if (this.#isDead) return
      if (answer.ok) then(answer.object)
      this.#done(key, answer.ok ? 0 : this.#world.random.int(50, 1_000))
    })
  }

  #task(key: string): void {
    const name = key.slice('task/'.length)
    const task = this.#place(name)
    if (!task) return this.#done(key)
    const view = this.#view(task)
    const { write, wakeAt } = decideTask(view)
    if (!write)
      return this.#done(key, wakeAt === undefined ? undefined : Math.max(10, wakeAt - this.#world.now))
    const { resourceVersion } = task.metadata
    if (write.target === 'node') {
      const run = () => this.#api.patch('node', task.spec.nodeName, write.patch, OURS)
      return this.#write(key, run, (node) => this.#keepNode(slimNode(node)))
    }
    const isStatus = write.target === 'status'
    const body = isStatus
      ? { metadata: { resourceVersion }, status: write.status }
      : { metadata: { resourceVersion, finalizers: write.finalizers } }
    if (isStatus) this.#world.say(`task ${task.spec.nodeName}: ${JSON.stringify(write.status)}`)
    this.#write(
      key,
      () => this.#api.patch('task', name, body, { status: isStatus, ...OURS }),
      (stored) => this.#keepTask(stored),
    )
  }

  #view(task: NodeUpgradeTask): TaskView {
    const { name } = task.metadata
    const job = this.#jobs.items.get(this.#jobName)
    const { attempt = 0, phase } = statusOf(task)
    const seenKey = `${name}.${attempt}`
    if (resultOf(task) && !isEnd(phase) && !this.#seenAt.has(seenKey))
      this.#seenAt.set(seenKey, this.#world.now)
    return {
      job: job?.metadata.uid === task.spec.owner.uid ? job : undefined,
      task,
      node: this.#nodes.items.get(task.spec.nodeName),
      released:
        job?.status?.releasing?.some((entry) => entry.task === name && entry.attempt === attempt) ?? false,
      mayPrepare: this.#permitted.has(name),
      planned: !(job && notPlanned(job, this.#index).has(name)),
      resultSeenAt: this.#seenAt.get(seenKey),
      pods: [],
      now: this.#world.now,
    }
  }

  #job(key: string): void {
    const job = this.#jobs.items.get(this.#jobName)
    this.#tellTasks(job)
    if (!job || (isFinished(job) && !job.metadata.deletionTimestamp)) return this.#done(key)
    const now = this.#world.now
    const decision = decideJob({
      job,
      index: this.#index,
      back: this.#back,
      node: (name) => this.#nodes.items.get(name),
      now,
      mayPlan: now >= this.#planFrom,
      complete: this.#complete,
      pace: this.#pace,
    })
    this.#permitted = new Set(decision.prepare)
    for (const name of [...(decision.prepare ?? []), ...(decision.release ?? [])]) this.#add(`task/${name}`)
    if (decision.verifyMembers) this.#complete = true
    const { write, wakeAt } = decision
    if (decision.verifyMembers) return this.#done(key, 0)
    if (!write) {
      const at = !job.status?.plan && now < this.#planFrom ? this.#planFrom : wakeAt
      return this.#done(key, at === undefined ? undefined : Math.max(10, at - now))
    }
    if (write.target === 'delete') return this.#done(key)
    if (write.target === 'plan') return this.#plan(key, job)
    if (write.target === 'rollback') return this.#planWayBack(key, job, write.reason)
    const { resourceVersion } = job.metadata
    const isStatus = write.target === 'status'
    const body = isStatus
      ? { metadata: { resourceVersion }, status: write.status }
      : { metadata: { resourceVersion, finalizers: write.finalizers } }
    if (isStatus)
      this.#world.say(
        `job: ${JSON.stringify({ ...write.status, nodeStatus: undefined, status: undefined, conditions: undefined })}`,
      )
    this.#write(
      key,
      () => this.#api.patch('job', this.#jobName, body, { status: isStatus, ...OURS }),
      (stored) => {
        put(this.#jobs.items, this.#jobName, newer(this.#jobs.items.get(this.#jobName), stored))
        if (isStatus && write.flush) this.#pace.flushedAt = now
        if (isStatus && write.release) this.#pace.releasedAt = now
      },
    )
  }

  #tellTasks(job: NodeUpgradeJob | undefined): void {
    const told = toldOf(job)
    if (told !== this.#told) for (const name of this.#tasks.items.keys()) this.#add(`task/${name}`)
    this.#told = told
  }

  #plan(key: string, job: NodeUpgradeJob): void {
    const plan = jobPlan(job)
    const nodes = {
      get: (name: string) => this.#nodes.items.get(name),
      list: () => [...this.#nodes.items.values()],
    }
    const wanted = resolveTargets(job, plan, nodes).map((target) => taskObject(job, plan, target))
    const missing = wanted.find((task) => !this.#tasks.items.has(task.metadata.name))
    if (missing) return this.#createTask(key, missing)
    const body = {
      metadata: { resourceVersion: job.metadata.resourceVersion },
      status: planPatch(job, [...this.#index.names()], this.#world.now),
    }
    this.#write(
      key,
      () => this.#api.patch('job', this.#jobName, body, { status: true, ...OURS }),
      (stored) => put(this.#jobs.items, this.#jobName, newer(this.#jobs.items.get(this.#jobName), stored)),
    )
  }

  #planWayBack(key: string, job: NodeUpgradeJob, reason: Parameters<typeof rollBackPatch>[0]): void {
    const wanted = tasksBack({ job, index: this.#index, node: (name) => this.#nodes.items.get(name) })
    const missing = wanted.find((task) => !this.#tasks.items.has(task.metadata.name))
    if (missing) return this.#createTask(key, missing)
    const body = {
      metadata: { resourceVersion: job.metadata.resourceVersion },
      status: rollBackPatch(
        reason,
        wanted.map((task) => task.metadata.name),
      ),
    }
    this.#write(
      key,
      () => this.#api.patch('job', this.#jobName, body, { status: true, ...OURS }),
      (stored) => put(this.#jobs.items, this.#jobName, newer(this.#jobs.items.get(this.#jobName), stored)),
    )
  }

  #createTask(key: string, task: NodeUpgradeTask): void {
    this.#write(
      key,
      () => {
        const created = this.#api.create('task', task)
        const known = this.#api.get('task', task.metadata.name)
        return created.ok || !known ? created : { ok: true, object: known }
      },
      (stored) => this.#keepTask(stored),
    )
  }

  /** Marks of no live task. */
  #mark(key: string): void {
    const node = this.#nodes.items.get(key.slice('mark/'.length))
    if (!node?.hold) return this.#done(key)
    const owner = this.#api.get('task', node.hold.task)
    const isLive = owner !== undefined && holds(node, owner)
    if (isLive && this.#tasks.items.has(owner.metadata.name)) {
      this.#add(`task/${owner.metadata.name}`)
      return this.#done(key)
    }
    if (isLive && !isEnd(statusOf(owner).phase)) return this.#done(key, 5_000)
    const patch = isLive ? endedPatch(node, owner, this.#jobs.items.get(this.#jobName)) : restorePatch(node)
    this.#write(
      key,
      () => this.#api.patch('node', node.name, patch, OURS),
      (stored) => this.#keepNode(slimNode(stored)),
    )
  }

  #keepTask(task: NodeUpgradeTask): void {
    if (!this.#api.get('task', task.metadata.name)) return
    const { name } = task.metadata
    put(this.#tasks.items, name, newer(this.#tasks.items.get(name), task))
    this.#place(name)
    this.#add(`job/${this.#jobName}`)
  }

  #keepNode(node: SlimNode): void {
    const known = this.#nodes.items.get(node.name)
    if (!known || Number(known.resourceVersion) < Number(node.resourceVersion))
      put(this.#nodes.items, node.name, node)
  }
}

function put<T>(items: Map<string, T>, name: string, item: T | undefined): void {
  if (item === undefined) items.delete(name)
  else items.set(name, item)
}

function newer<T extends Stored>(known: T | undefined, stored: T): T {
  return known && Number(known.metadata.resourceVersion) > Number(stored.metadata.resourceVersion)
    ? known
    : stored
}
