import type { Dispatcher } from 'undici'
import { badAnswer, type CallName, errorOfBreak } from './answers.ts'
import type { Deadline } from './deadline.ts'
import type { KubeError } from './errors.ts'

/** A whole answer. */
export interface Answer {
  readonly status: number
  readonly text: string
  readonly date?: string
  readonly retryAfter?: string
}

/** The longest answer of a call; a list page of 500 objects is far below. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/**
 * Sends one request and collects its answer. undici's `request` would make a stream of it, at twice the price, and hide
 * whether the request had left: without that, every connection that cannot be made were a write of unknown outcome.
 * @throws KubeError
 */
export function exchange(
  pool: Dispatcher,
  options: Dispatcher.DispatchOptions,
  by: { name: CallName; deadline: Deadline },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const collector = new Collector(by.name, resolve, reject)
    by.deadline.onOver((reason) => collector.giveUp(reason))
    pool.dispatch(options, collector)
  })
}

class Collector implements Dispatcher.DispatchHandler {
  readonly #name: CallName
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: KubeError) => void
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #status = 0
  #headers: Record<string, string | string[] | undefined> = {}
  #controller: Dispatcher.DispatchController | undefined
  #givenUp: Error | undefined

  constructor(name: CallName, resolve: (answer: Answer) => void, reject: (error: KubeError) => void) {
    this.#name = name
    this.#resolve = resolve
    this.#reject = reject
  }

  /** undici keeps a request that waits for a connection; it is dropped when its turn comes. */
  giveUp(reason: unknown): void {
    this.#givenUp = reason instanceof Error ? reason : new Error(String(reason))
    this.#reject(errorOfBreak(this.#name, this.#givenUp, this.#controller !== undefined))
    this.#controller?.abort(this.#givenUp)
  }

  /** The request is written to a connection now, and not before. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#givenUp) return controller.abort(this.#givenUp)
    this.#controller = controller
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes <= MAX_ANSWER_BYTES) return
    const error = badAnswer(this.#name, 'the answer is too long')
    this.#reject(error)
    controller.abort(error)
  }

  onResponseEnd(): void {
    const { date, 'retry-after': retryAfter } = this.#headers
    this.#resolve({
      status: this.#status,
      text:
        (this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks))?.toString('utf8') ?? '',
      ...(typeof date === 'string' ? { date } : {}),
      ...(typeof retryAfter === 'string' ? { retryAfter } : {}),
    })
  }

  onResponseError(_: unknown, error: Error): void {
    this.#reject(errorOfBreak(this.#name, error, this.#controller !== undefined))
  }
}
