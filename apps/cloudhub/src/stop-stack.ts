import { type Logger, messageOf } from '@upgrade-hub/core'

/** What has to be undone, in the reverse order of its doing. One step that fails does not keep the others from running. */
export class StopStack {
  readonly #log: Logger
  readonly #steps: { readonly name: string; readonly stop: () => Promise<void> }[] = []
  readonly #stopped = new AbortController()
  #stopping: Promise<void> | undefined

  constructor(log: Logger) {
    this.#log = log
  }

  /** Aborts when the stop begins: what waits during a start waits no longer. */
  get signal(): AbortSignal {
    return this.#stopped.signal
  }

  /** Adds a step; when the stop has begun already, it runs at once. */
  push(name: string, stop: () => Promise<void>): void {
    if (this.#stopping) void this.#undo(name, stop)
    else this.#steps.push({ name, stop })
  }

  /** Runs all steps once; a second call waits for the first. */
  stop(): Promise<void> {
    this.#stopping ??= this.#unwind()
    return this.#stopping
  }

  async #unwind(): Promise<void> {
    this.#stopped.abort(new Error('the hub stops'))
    for (const { name, stop } of this.#steps.toReversed()) await this.#undo(name, stop)
  }

  async #undo(name: string, stop: () => Promise<void>): Promise<void> {
    try {
      await stop()
      this.#log.debug({ part: name }, 'stopped')
    } catch (error) {
      this.#log.error({ part: name, error: messageOf(error) }, 'could not be stopped in order')
    }
  }
}
