import type { Logger } from '@upgrade-hub/core'
import type { Probe } from '@upgrade-hub/protocol'

/** What the agent's program says of its version, asked one at a time. */
export class AgentProbe {
  readonly #bootID: string
  readonly #ask: () => Promise<string>
  readonly #log: Logger
  #current: Probe | undefined
  #asking: Promise<boolean> | undefined
  #again = false

  constructor(options: { bootID: string; ask: () => Promise<string>; log: Logger }) {
    this.#bootID = options.bootID
    this.#ask = options.ask
    this.#log = options.log
  }

  /** Undefined before the first answer of this process. */
  get current(): Probe | undefined {
    return this.#current
  }

  /** Asks again; true when the answer is another than before. A call during a question asks once more after it. */
  refresh(): Promise<boolean> {
    if (this.#asking) {
      this.#again = true
      return this.#asking
    }
    this.#asking = this.#askUntilSettled().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** Resolves when no question is open. */
  async settled(): Promise<void> {
    await this.#asking
  }

  async #askUntilSettled(): Promise<boolean> {
    const before = this.#current?.version
    do {
      this.#again = false
      this.#current = { version: await this.#ask(), bootID: this.#bootID }
    } while (this.#again)
    const { version } = this.#current
    if (version !== before) this.#log.info({ version }, 'the agent has this version')
    return version !== before
  }
}
