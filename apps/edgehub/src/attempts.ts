import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import type { Welcome } from '@upgrade-hub/protocol'
import type { AttemptStore, AttemptView } from '@upgrade-hub/upgrader'
import { endedByWelcome } from './node-rules.ts'
import type { Reporter } from './reporter.ts'
import type { Updaters } from './updaters.ts'

const BUSY_POLL_MS = 250
/** Nothing changed for a while: a person has to confirm, or a download is slow. */
const QUIET_POLL_MS = 1_000
const QUIET_AFTER_MS = 10_000
/** Prepared attempts and none at all: only an intent, which wakes us, or a person at this node changes them. */
const IDLE_POLL_MS = 10_000
const PRUNE_EVERY_MS = 3_600_000

export interface AttemptLoopOptions {
  readonly store: AttemptStore
  readonly updaters: Updaters
  readonly reporter: Reporter
  /** Called when an attempt ends, and once for each that has ended before the start. */
  readonly onEnded: () => void
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Follows the attempts on disk: gives those with work an updater, tells the hub what is new, and lets go of them when
 * they have ended and everything was said. It remembers nothing that is not on disk, so its own death costs nothing.
 */
export class AttemptLoop {
  readonly #options: AttemptLoopOptions
  /** Not ended, or with something left to say. */
  #open = new Set<string>()
  #seen = new Map<string, string>()
  #changedAt = 0
  #prunedAt = Number.NEGATIVE_INFINITY
  #lookAtAll = true
  #wake = Promise.withResolvers<void>()

  constructor(options: AttemptLoopOptions) {
    this.#options = options
  }

  /** An intent changed something: look at once. */
  poke(): void {
    this.#lookAtAll = true
    this.#wake.resolve()
  }

  /** A new session: the hub's verdicts take effect, and it is told everything again. */
  async welcome(welcome: Welcome): Promise<void> {
    this.#options.reporter.forgetAll()
    for (const view of await this.#options.store.attempts()) {
      if (!endedByWelcome(view, welcome)) continue
      const { id, task, taskUID, attempt } = view
      this.#options.log.info({ attempt: id }, 'the hub does not want this attempt any more')
      await this.#options.store.cancel({ Task: task, TaskUID: taskUID, Attempt: attempt, IntentSeq: 0 })
    }
    this.poke()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers()
      const busy = await this.#look().catch((error: unknown) => {
        this.#options.log.error({ error: messageOf(error) }, 'attempts cannot be read, trying again')
        return false
      })
      await this.#rest(busy, signal)
    }
  }

  /** True while something is under way. */
  async #look(): Promise<boolean> {
    const views = await this.#views()
    for (const view of views) await this.#follow(view)
    return views.some(isUnderWay)
  }

  async #views(): Promise<readonly AttemptView[]> {
    const { store } = this.#options
    if (this.#lookAtAll) {
      this.#lookAtAll = false
      await this.#prune()
      return store.attempts()
    }
    const views = await Promise.all(Array.from(this.#open, (id) => store.attempt(id)))
    return views.filter((view) => view !== undefined)
  }

  async #follow(view: AttemptView): Promise<void> {
    const { updaters, reporter, store, clock, onEnded } = this.#options
    const isNew = !this.#seen.has(view.id)
    const isNews = this.#note(view)
    await updaters.ensure(view)
    if (hasEnded(view)) {
      // What had ended before we started is said when the hub asks, and by its result.
      if (isNew || reporter.report(view)) this.#open.delete(view.id)
      if (isNews) onEnded()
      return
    }
    this.#open.add(view.id)
    reporter.report(view)
    const download = await store.download(view.id)
    if (download) reporter.reportDownload(view, download, clock.monotonic())
  }

  /** True when it is not as it was at the last look. */
  #note(view: AttemptView): boolean {
    const state = `${view.lastSeq} ${view.phase} ${view.answer?.IntentSeq}`
    if (this.#seen.get(view.id) === state) return false
    this.#seen.set(view.id, state)
    this.#changedAt = this.#options.clock.monotonic()
    return true
  }

  async #prune(): Promise<void> {
    const now = this.#options.clock.monotonic()
    if (now - this.#prunedAt < PRUNE_EVERY_MS) return
    this.#prunedAt = now
    await this.#options.store.prune()
    const left = new Set((await this.#options.store.attempts()).map(({ id }) => id))
    for (const id of this.#seen.keys()) if (!left.has(id)) this.#forget(id)
  }

  #forget(id: string): void {
    this.#seen.delete(id)
    this.#open.delete(id)
    this.#options.reporter.forget(id)
  }

  async #rest(busy: boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const quiet = clock.monotonic() - this.#changedAt > QUIET_AFTER_MS
    const ms = busy ? (quiet ? QUIET_POLL_MS : BUSY_POLL_MS) : IDLE_POLL_MS
    if (!busy) this.#lookAtAll = true
    const woken = new AbortController()
    const sleep = clock.sleep(ms, AbortSignal.any([signal, woken.signal])).catch(() => undefined)
    await Promise.race([sleep, this.#wake.promise])
    woken.abort()
  }
}

function hasEnded(view: AttemptView): boolean {
  return view.phase === 'ended' && !view.needsUpdater
}

function isUnderWay(view: AttemptView): boolean {
  return view.needsUpdater || view.phase === 'preparing' || view.phase === 'proceeding'
}
