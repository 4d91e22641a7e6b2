import { type Answer, OPERATION, type Progress, taskResource } from '@upgrade-hub/protocol'
import type { AttemptView } from '@upgrade-hub/upgrader'

/** Sends one frame; false when there is no session, so that it is tried again. */
export type Send = (operation: string, resource: string, content: Answer | Progress) => boolean

/** How far a download is. */
export interface Download {
  readonly percent: number
  readonly bytes: number
}

/** While only the numbers of a download change, they are sent this often. */
const DOWNLOAD_EVERY_MS = 5_000

/**
 * Tells the hub what is new of each attempt: the last word on an intent, and each action as it begins and ends. What
 * could not be sent stays due; a new session is told everything again, because nobody knows what the old one still got.
 */
export class Reporter {
  readonly #nodeName: string
  readonly #send: Send
  /** Attempt → subject (the answer, or an action) → what was last said of it. */
  #said = new Map<string, Map<string, string>>()
  #downloadAt = new Map<string, number>()

  constructor(nodeName: string, send: Send) {
    this.#nodeName = nodeName
    this.#send = send
  }

  /**
   * Sends what is new; true when nothing stays due. The last word comes last: the hub stores it at once, with what was said
   * before it, and may listen to no more of a task that it ends.
   */
  report(view: AttemptView): boolean {
    const resource = taskResource(view.upgradeID, this.#nodeName)
    const actions = view.actions.map((progress) => {
      const state = `${progress.Seq} ${progress.Final}`
      return this.#once(view.id, progress.action, state, () =>
        this.#send(OPERATION.progress, resource, progress),
      )
    })
    const answered = view.answer === undefined || this.#reportAnswer(view, view.answer, resource)
    return answered && actions.every(Boolean)
  }

  /** Sends the numbers of a running download, now and then. `now` is monotonic ms. */
  reportDownload(view: AttemptView, download: Download, now: number): void {
    const running = view.actions.findLast((action) => !action.Final)
    const last = this.#downloadAt.get(view.id)
    if (!running || (last !== undefined && now - last < DOWNLOAD_EVERY_MS)) return
    const content = { ...running, Percent: download.percent, Bytes: download.bytes }
    if (this.#send(OPERATION.progress, taskResource(view.upgradeID, this.#nodeName), content)) {
      this.#downloadAt.set(view.id, now)
    }
  }

  forgetAll(): void {
    this.#said.clear()
  }

  forget(id: string): void {
    this.#said.delete(id)
    this.#downloadAt.delete(id)
  }

  /** `accepted` was said at once when the intent came. */
  #reportAnswer(view: AttemptView, answer: Answer, resource: string): boolean {
    if (answer.Value === 'accepted') return true
    const state = `${answer.IntentSeq} ${answer.Value}`
    return this.#once(view.id, 'answer', state, () => this.#send(OPERATION.answer, resource, answer))
  }

  #once(id: string, subject: string, state: string, send: () => boolean): boolean {
    const said = this.#said.get(id) ?? new Map<string, string>()
    this.#said.set(id, said)
    if (said.get(subject) === state) return true
    if (!send()) return false
    said.set(subject, state)
    return true
  }
}
