import { type Clock, historyId, type Logger, messageOf } from '@upgrade-hub/core'
import {
  type Answer,
  type Frame,
  OPERATION,
  type Prepare,
  type Proceed,
  type TaskRef,
} from '@upgrade-hub/protocol'
import type { AttemptStore } from '@upgrade-hub/upgrader'
import { type IntentRef, notThisNode, refusal } from './node-rules.ts'

export interface IntentOptions {
  readonly store: AttemptStore
  /** The Node's UID as the session's welcome gave it. */
  readonly nodeUID: () => string | undefined
  readonly send: (
    operation: string,
    resource: string,
    content: unknown,
    options: { parentId: string },
  ) => boolean
  /** Something was stored that may need an updater. */
  readonly onStored: () => void
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Takes what the hub wants of this node. Everything is judged again here as if the hub were hostile, is on disk before it
 * is answered, and is answered the same when it comes again.
 */
export class Intents {
  readonly #options: IntentOptions

  constructor(options: IntentOptions) {
    this.#options = options
  }

  /** True when the frame was an intent. What cannot be stored is answered `error`, so that the hub asks again. */
  take(frame: Frame): boolean {
    const judged = this.#judge(frame)
    if (!judged) return false
    judged.then(
      (answer) => this.#answer(frame, answer),
      (error: unknown) => this.#fail(frame, error),
    )
    return true
  }

  #judge(frame: Frame): Promise<Answer> | undefined {
    switch (frame.operation) {
      case OPERATION.prepare:
        return this.#prepare(frame.content as Prepare)
      case OPERATION.proceed:
        return this.#proceed(frame.content as Proceed)
      case OPERATION.cancel:
        return this.#cancel(frame.content as TaskRef)
      default:
        return undefined
    }
  }

  async #prepare(prepare: Prepare): Promise<Answer> {
    return notThisNode(prepare, this.#options.nodeUID()) ?? this.#options.store.accept(prepare)
  }

  async #proceed(proceed: Proceed): Promise<Answer> {
    const { store, clock, nodeUID } = this.#options
    const receivedAt = clock.monotonic()
    const stranger = notThisNode(proceed, nodeUID()) ?? (await this.#otherTask(proceed))
    if (stranger) return stranger
    const answer = await store.permit(historyId(proceed.Task, proceed.Attempt), {
      epoch: proceed.Epoch,
      nodeUID: proceed.NodeUID,
      intentSeq: proceed.IntentSeq,
      validForSeconds: proceed.ValidForSeconds - (clock.monotonic() - receivedAt) / 1000,
    })
    return { ...answer, TaskUID: proceed.TaskUID }
  }

  async #cancel(ref: TaskRef): Promise<Answer> {
    return (await this.#otherTask(ref)) ?? this.#options.store.cancel(ref)
  }

  /** A task of the same name that is not the one that was prepared here. */
  async #otherTask(ref: IntentRef): Promise<Answer | undefined> {
    const view = await this.#options.store.attempt(historyId(ref.Task, ref.Attempt))
    if (!view || view.taskUID === ref.TaskUID) return undefined
    return refusal(ref, 'BadRequest', 'another task of this name was prepared here')
  }

  #answer(frame: Frame, answer: Answer): void {
    const { log, send, onStored } = this.#options
    const { Task, Attempt, IntentSeq, Value, Code } = answer
    log.info({ operation: frame.operation, Task, Attempt, IntentSeq, Value, Code }, 'intent answered')
    send(OPERATION.answer, frame.resource, answer, { parentId: frame.msgId })
    onStored()
  }

  #fail(frame: Frame, error: unknown): void {
    const { log, send } = this.#options
    log.error({ operation: frame.operation, error: messageOf(error) }, 'intent not taken')
    const content = { code: 'UNAVAILABLE', message: 'the intent could not be stored' }
    send(OPERATION.error, frame.resource, content, { parentId: frame.msgId })
  }
}
