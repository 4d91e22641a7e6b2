import { HttpError } from '../errors.ts'

/** Lets a bounded number of jobs run at once and a bounded number wait; more are refused at once. */
export class Gate {
  readonly #running: number
  readonly #waiting: number
  readonly #queue: (() => void)[] = []
  #active = 0

  constructor(limits: { running: number; waiting: number }) {
    this.#running = limits.running
    this.#waiting = limits.waiting
  }

  /** @throws HttpError 503 BUSY when too many wait already; whatever `job` throws. */
  async run<T>(job: () => Promise<T>): Promise<T> {
    if (this.#active >= this.#running) await this.#wait()
    else this.#active++
    try {
      return await job()
    } finally {
      const next = this.#queue.shift()
      if (next) next()
      else this.#active--
    }
  }

  async #wait(): Promise<void> {
    if (this.#queue.length >= this.#waiting) {
      throw new HttpError(503, 'BUSY', 'too many requests at once', { retryAfterSeconds: 2 })
    }
    await new Promise<void>((resolve) => this.#queue.push(resolve))
  }
}
