import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { type Answer, OPERATION, type Prepare, type Proceed, type TaskRef } from '@upgrade-hub/protocol'
import { isFinished } from '@upgrade-hub/rollout'
import { decideEdge } from '../../apps/cloudhub/src/gateway/edge-status/decide.ts'
import type { EdgeMessage } from '../../apps/cloudhub/src/gateway/edge-status/decision.ts'
import { type IntentFrame, intentFrame, intentState } from '../../apps/cloudhub/src/gateway/intents/frames.ts'
import type { SimApi } from './api.ts'
import type { EdgeLink, SimEdge, SimResult } from './edge.ts'
import type { World } from './world.ts'

const RESEND_MS = 3_000
const MAX_TRIES = 6

/**
 * The channel's side of the hub, with its real decisions: it sends the intents of active tasks until they are answered, and
 * stores what edges say. Between it and the edges messages are lost, doubled, late and out of order.
 */
export class SimGateway implements EdgeLink {
  readonly edges = new Map<string, SimEdge>()
  readonly #world: World
  readonly #api: SimApi
  readonly #sending = new Map<string, number>()
  loss = 0

  constructor(world: World, api: SimApi) {
    this.#world = world
    this.#api = api
    api.watch(({ kind, type, object }) => {
      if (kind !== 'task' || type !== 'put') return
      const { name } = object.metadata
      world.after(world.random.int(1, 300), () => this.#consider(name))
    })
  }

  connected(edge: SimEdge): void {
    for (const task of this.#api.all('task'))
      if (task.spec.nodeName === edge.name) this.#consider(task.metadata.name)
  }

  answer(edge: SimEdge, body: Answer): void {
    this.#carry(() => {
      this.#store(body.Task, { kind: 'answer', nodeName: edge.name, body }, () => undefined)
    })
  }

  post(edge: SimEdge, result: SimResult, done: (final: boolean) => void): void {
    const { random } = this.#world
    if (random.chance(this.loss)) return this.#world.after(random.int(1_000, 10_000), () => done(false))
    const task = result.HistoryID.slice(0, result.HistoryID.lastIndexOf('.'))
    const message = this.#report(edge, task, result)
    this.#world.after(random.int(5, 500), () =>
      this.#store(task, message, (stored) => {
        const heard = !random.chance(this.loss)
        this.#world.after(random.int(5, 500), () => done(stored && heard))
      }),
    )
  }

  #report(edge: SimEdge, name: string, result: SimResult): EdgeMessage {
    const task = this.#api.get('task', name)
    const job = this.#api.get('job', task?.spec.jobName ?? '')
    const time = new Date(this.#world.now).toISOString()
    return {
      kind: 'result',
      nodeName: edge.name,
      body: {
        ...result,
        UpgradeID: task?.spec.jobName ?? '',
        NodeName: edge.name,
        Status: '',
        FinishedAt: time,
        attempt: Number(result.HistoryID.slice(result.HistoryID.lastIndexOf('.') + 1)),
        jobClosed: !job || isFinished(job),
        probe: { version: edge.version, edgehub: '0.1.0', bootID: 'boot', time },
      },
    }
  }

  #consider(name: string): void {
    const task = this.#api.get('task', name)
    if (!task || task.status?.active !== 'true' || intentState(task) !== 'open') return
    const seq = task.status.intent?.seq ?? 0
    if (this.#sending.get(name) === seq) return
    this.#sending.set(name, seq)
    this.#send(name, seq)
  }

  #send(name: string, seq: number): void {
    const task = this.#api.get('task', name)
    const open =
      task?.status?.active === 'true' && task.status.intent?.seq === seq && intentState(task) === 'open'
    if (!task || !open) {
      if (this.#sending.get(name) === seq) this.#sending.delete(name)
      return this.#consider(name)
    }
    const edge = this.edges.get(task.spec.nodeName)
    const frame = intentFrame(task, this.#world.now)
    if (edge?.online && frame) this.#carry(() => this.#hand(edge, task, frame))
    this.#world.after(RESEND_MS + this.#world.random.int(0, 3_000), () => this.#send(name, seq))
  }

  /** The permission is counted from its receipt, in the duration that was left when it was sent. */
  #hand(edge: SimEdge, task: NodeUpgradeTask, { operation, content }: IntentFrame): void {
    if (!edge.online || edge.gone) return
    if (operation === OPERATION.prepare) edge.prepare(content as Prepare)
    else if (operation === OPERATION.proceed) edge.proceed(content as Proceed, task.spec.version)
    else edge.cancel(content as TaskRef)
  }

  #carry(deliver: () => void): void {
    const { random } = this.#world
    if (random.chance(this.loss)) return
    const copies = random.chance(this.loss) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) this.#world.after(random.int(5, 2_000), deliver)
  }

  #store(name: string, message: EdgeMessage, done: (stored: boolean) => void, tries = 0): void {
    if (tries >= MAX_TRIES) return done(false)
    const task = this.#api.get('task', name)
    if (!task) return done(true)
    const decision = decideEdge(task, message)
    if (decision.kind !== 'patch') return done(true)
    const body = {
      metadata: { resourceVersion: task.metadata.resourceVersion },
      status: { edge: decision.edge },
    }
    this.#api.call(
      () => this.#api.patch('task', name, body, { status: true }),
      // Also after an answer: it is acknowledged when it was read back.
      () =>
        this.#world.after(this.#world.random.int(10, 200), () => this.#store(name, message, done, tries + 1)),
    )
  }
}
