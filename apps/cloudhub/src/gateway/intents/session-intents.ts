import type { NodeUpgradeTask } from '@upgrade-hub/api'
import type { EdgeSession } from '@upgrade-hub/channel'
import { backoffMs, type Clock, type Logger, messageOf, type Timer } from '@upgrade-hub/core'
import { taskResource } from '@upgrade-hub/protocol'
import { intentFrame, intentState } from './frames.ts'

export interface SessionIntentsOptions {
  readonly session: Pick<EdgeSession, 'nodeName' | 'send'>
  /** The newest known state of a task; undefined when it is no longer active. */
  readonly find: (name: string) => NodeUpgradeTask | undefined
  /** API-server time, ms. */
  readonly serverNow: () => number
  readonly clock: Clock
  readonly log: Logger
}

interface Sending {
  readonly seq: number
  tries: number
  timer?: Timer
}

/** The first repeat comes after 2 s at the earliest; a slow disk at the edge needs more than a round trip. */
const REPEAT = { minMs: 2_000, baseMs: 1_000, maxMs: 30_000 }
/** An edge that works on an intent is asked once a minute, in case its last word was lost on the way into the store. */
const ASK_AGAIN_MS = 60_000

/**
 * The intents of one node while its session lives: each is sent at once, and again with back-off until the edge's last
 * word is stored. Sending twice is harmless: the edge knows an intent by its number and gives the same answer.
 */
export class SessionIntents {
  readonly #options: SessionIntentsOptions
  readonly #sending = new Map<string, Sending>()

  constructor(options: SessionIntentsOptions) {
    this.#options = options
  }

  /** Looks at a task of the node that is new or has changed. */
  consider(task: NodeUpgradeTask): void {
    const { name } = task.metadata
    const state = intentState(task)
    if (state === undefined || state === 'answered') return this.forget(name)
    const known = this.#sending.get(name)
    const seq = task.status?.intent?.seq ?? 0
    if (known?.seq === seq) return
    this.forget(name)
    const sending: Sending = { seq, tries: 0 }
    this.#sending.set(name, sending)
    this.#send(task, sending)
  }

  /** The edge has answered in this session: it has the intent. */
  acknowledge(name: string, seq: number): void {
    const sending = this.#sending.get(name)
    if (sending?.seq === seq) this.#repeatIn(ASK_AGAIN_MS, name, sending)
  }

  /** The task is over, or another node's. */
  forget(name: string): void {
    this.#sending.get(name)?.timer?.cancel()
    this.#sending.delete(name)
  }

  /** The session is over. */
  dispose(): void {
    for (const { timer } of this.#sending.values()) timer?.cancel()
    this.#sending.clear()
  }

  #send(task: NodeUpgradeTask, sending: Sending): void {
    const { session, log, serverNow } = this.#options
    const frame = intentFrame(task, serverNow())
    if (!frame) return
    const resource = taskResource(task.spec.jobName, session.nodeName)
    try {
      session.send(frame.operation, resource, frame.content)
    } catch (error) {
      log.error({ task: task.metadata.name, error: messageOf(error) }, 'an intent cannot be sent')
    }
    this.#repeatIn(REPEAT.minMs + backoffMs(REPEAT, sending.tries++), task.metadata.name, sending)
  }

  #repeatIn(ms: number, name: string, sending: Sending): void {
    sending.timer?.cancel()
    sending.timer = this.#options.clock.after(ms, () => {
      const task = this.#options.find(name)
      if (task) this.#send(task, sending)
      else this.forget(name)
    })
  }
}
