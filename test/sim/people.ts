import {
  EDGE_NODE_LABEL,
  HOLD_ANNOTATION,
  type JobControl,
  KEEP_CORDONED_ANNOTATION,
  type Node,
} from '@upgrade-hub/api'
import { conditionOf, isFinished } from '@upgrade-hub/rollout'
import type { SimApi } from './api.ts'
import type { World } from './world.ts'

/** Reasons for which a job waits until a person does something. */
const STANDSTILLS = ['ThresholdBreached', 'ProgressDeadlineExceeded', 'TooManyUnavailable', 'WindowClosed']

/** What people do meanwhile with kubectl. */
export class People {
  /** The value of `unschedulable` that a person last changed a node to. */
  readonly wishes = new Map<string, boolean>()
  /** Nodes that a person wants to stay closed, or whose mark a person has removed. */
  readonly meddled = new Set<string>()
  readonly #world: World
  readonly #api: SimApi
  readonly #jobName: string

  constructor(world: World, api: SimApi, jobName: string) {
    this.#world = world
    this.#api = api
    this.#jobName = jobName
  }

  /** One thing that somebody does. */
  act(node: string): void {
    const { random } = this.#world
    random.pick([
      () => this.cordon(node, true),
      () => this.cordon(node, false),
      () => this.control({ paused: true }),
      () => this.control({ paused: false }),
      () => this.control({ paused: false }),
      () => this.retry(),
      () => this.reclose(),
      () => this.reclose(),
      () => this.keepCordoned(node),
      () => this.tearMark(node),
      () => this.deleteTask(),
      () => (random.chance(0.3) ? this.control({ cancelled: true }) : undefined),
      () => (random.chance(0.2) ? this.deleteJob() : undefined),
      () => (random.chance(0.3) ? this.deleteNode(node) : undefined),
    ])()
  }

  cordon(name: string, unschedulable: boolean): void {
    const node = this.#api.get('node', name)
    if (!node || (node.spec?.unschedulable ?? false) === unschedulable) return
    this.#world.say(`person: ${unschedulable ? 'cordon' : 'uncordon'} ${name}`)
    this.wishes.set(name, unschedulable)
    this.#api.patch('node', name, { spec: { unschedulable: unschedulable || null } })
  }

  /** Somebody opens a node that we hold, and closes it again for good: visible, so it is theirs. */
  reclose(): void {
    const held = this.#api
      .all('node')
      .find((node) => node.metadata.annotations?.[HOLD_ANNOTATION] !== undefined)
    if (!held) return this.#world.after(this.#world.random.int(5_000, 30_000), () => this.reclose())
    this.cordon(held.metadata.name, false)
    this.#world.after(this.#world.random.int(10, 3_000), () => this.cordon(held.metadata.name, true))
  }

  control(control: JobControl): void {
    this.#world.say(`person: control ${JSON.stringify(control)}`)
    this.#api.patch('job', this.#jobName, { control })
  }

  /** Asks for one more attempt of what failed. */
  retry(): void {
    const { retry = 0 } = this.#api.get('job', this.#jobName)?.control ?? {}
    this.control({ retry: retry + 1 })
  }

  /** Approves the wave that waits, some time after it asks; `again` says when to look next. */
  approve(again: () => void): void {
    const job = this.#api.get('job', this.#jobName)
    if (!job || isFinished(job)) return
    const waiting = job.status?.waves?.find(({ state }) => state === 'WaitingForApproval')
    const approvals = job.control?.approvals ?? []
    if (waiting && !approvals.some(({ wave }) => wave === waiting.name))
      this.control({ approvals: [...approvals, { wave: waiting.name, by: 'ann' }] })
    again()
  }

  /** A job that stands still says why; somebody reads it and gives up. */
  endStandstill(): void {
    const job = this.#api.get('job', this.#jobName)
    if (!job || isFinished(job) || job.metadata.deletionTimestamp) return
    const reason = conditionOf(job, 'Progressing')?.reason ?? ''
    if (!STANDSTILLS.includes(reason)) return this.#world.breach(`the job stands still and says ${reason}`)
    this.control({ cancelled: true })
  }

  keepCordoned(name: string): void {
    this.#world.say(`person: hold ${name}`)
    this.meddled.add(name)
    this.#api.patch('node', name, { metadata: { annotations: { [KEEP_CORDONED_ANNOTATION]: 'please' } } })
  }

  tearMark(name: string): void {
    if (!this.#api.get('node', name)?.metadata.annotations?.[HOLD_ANNOTATION]) return
    this.#world.say(`person: removes the mark of ${name}`)
    this.meddled.add(name)
    this.#api.patch('node', name, { metadata: { annotations: { [HOLD_ANNOTATION]: null } } })
  }

  deleteTask(): void {
    const tasks = this.#api.all('task')
    if (tasks.length === 0) return
    const { name } = this.#world.random.pick(tasks).metadata
    this.#world.say(`person: delete task ${name}`)
    this.#api.delete('task', name)
  }

  deleteJob(): void {
    this.#world.say('person: delete job')
    this.#api.delete('job', this.#jobName)
  }

  deleteNode(name: string): void {
    const node = this.#api.get('node', name)
    if (!node) return
    this.#world.say(`person: delete node ${name}`)
    this.meddled.add(name)
    this.#api.delete('node', name)
    if (this.#world.random.chance(0.5))
      this.#world.after(5_000, () => this.#api.create('node', freshNode(node)))
  }
}

/** Another machine of the same name. */
function freshNode({ metadata, status }: Node): Node {
  const labels = { [EDGE_NODE_LABEL]: '' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: metadata.name, labels },
    spec: {},
    ...(status ? { status } : {}),
  }
}
