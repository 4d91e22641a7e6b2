import {
  type BackoffPolicy,
  backoffMs,
  type Clock,
  type Counter,
  HubError,
  type Logger,
  type Metrics,
  messageOf,
} from '@upgrade-hub/core'
import type { KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import type { Selection } from './options.ts'
import type { Resource } from './resources.ts'
import type { KubeObject } from './types.ts'
import type { WatchEvent } from './watch.ts'
import { Watchdog } from './watchdog.ts'

/** The state of a kind while it arrives piece by piece; it replaces the old one whole, or never. */
export interface Snapshot<T> {
  put(object: T): void
  remove(object: T): void
  commit(): void
}

/** Where a reflector puts what it learns. */
export interface Mirror<T> {
  begin(): Snapshot<T>
  apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void
  /** The server has just confirmed that the mirror is up to date, or made it so. */
  fresh(): void
}

/** All in ms. */
export interface ReflectorTiming {
  /** Watches end by themselves after a random time in this range; the server is told. */
  readonly watchMs: readonly [number, number]
  /** A watch that outlives its end by this is a connection whose other side is gone. */
  readonly graceMs: number
  /** Silence in the middle of the initial state means a server that does not know WatchList. */
  readonly initialSilenceMs: number
  /** One whole listing. */
  readonly syncMs: number
  /** Two attempts start at least this far apart. */
  readonly minLifeMs: number
  readonly backoff: BackoffPolicy
}

/** A half-open connection is found within a minute, though nothing is ever sent on it. */
export const DEFAULT_TIMING: ReflectorTiming = {
  watchMs: [40_000, 50_000],
  graceMs: 8_000,
  initialSilenceMs: 3_000,
  syncMs: 120_000,
  minLifeMs: 1_000,
  backoff: { baseMs: 500, maxMs: 30_000 },
}

const PAGE_SIZE = 500
/** This many attempts without an event, and what we know is given up: some faults never say 410. */
const FRUITLESS_LIMIT = 3
const NO_WATCH_LIST = new Set([400, 405, 422])

/** How an attempt ended; without an error when the server closed the watch in order. */
interface End {
  readonly error?: unknown
  /** It was given up because nothing came. */
  readonly silent?: boolean
}

interface ReflectorOptions<T> {
  readonly client: KubeClient
  readonly resource: Resource<T>
  readonly selection: Selection
  readonly mirror: Mirror<T>
  readonly timing: ReflectorTiming
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/**
 * Keeps a mirror equal to a kind of the API server: the whole state first (WatchList, or pages of a consistent list),
 * then every change. One loop, one attempt at a time; what breaks an attempt decides only where the next one starts.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #clock: Clock
  readonly #attempts: Counter
  /** Where the next watch starts; undefined: the whole state is needed. */
  #version: string | undefined
  #watchList = true
  #failures = 0

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#clock = options.clock
    this.#attempts = options.metrics.counter(
      'upgradehub_kube_watch_ends_total',
      'Watches that ended, by kind and cause.',
      ['resource', 'cause'],
    )
  }

  /** Resolves when the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const startedAt = this.#clock.monotonic()
      const end = await this.#attempt(signal)
      if (signal.aborted) return
      const lived = this.#clock.monotonic() - startedAt
      const waitMs = this.#waitAfter(end, lived)
      this.#tell(end, waitMs)
      await this.#clock.sleep(waitMs, signal).catch(() => undefined)
    }
  }

  async #attempt(outer: AbortSignal): Promise<End> {
    const attempt = new AbortController()
    const stop = () => attempt.abort(outer.reason)
    outer.addEventListener('abort', stop, { once: true })
    const { timing } = this.#options
    let silent = false
    const dog = new Watchdog(this.#clock, timing.syncMs, (silentMs) => {
      silent = true
      attempt.abort(new KubeError('KUBE_NO_ANSWER', `nothing came for ${Math.round(silentMs)} ms`))
    })
    try {
      if (this.#version === undefined && !this.#watchList) await this.#list(attempt.signal)
      await this.#watch(attempt.signal, dog)
      return {}
    } catch (error) {
      return { error: attempt.signal.aborted ? attempt.signal.reason : error, silent }
    } finally {
      dog.stop()
      outer.removeEventListener('abort', stop)
      attempt.abort()
    }
  }

  /** Reads all pages of one consistent state. */
  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, selection, mirror } = this.#options
    const snapshot = mirror.begin()
    let next: string | undefined
    let version: string
    do {
      const page = await client.list(resource, {
        ...selection,
        limit: PAGE_SIZE,
        ...(next ? { continue: next } : {}),
        maxTries: 1,
        signal,
      })
      for (const item of page.items) snapshot.put(item)
      version = page.metadata.resourceVersion
      next = page.metadata.continue
    } while (next)
    signal.throwIfAborted()
    snapshot.commit()
    this.#version = version
    mirror.fresh()
  }

  async #watch(signal: AbortSignal, dog: Watchdog): Promise<void> {
    const { client, resource, selection, timing, mirror } = this.#options
    const [least, most] = timing.watchMs
    const watchMs = least + Math.random() * (most - least)
    let initial = this.#version === undefined ? mirror.begin() : undefined
    dog.relimit(initial ? timing.initialSilenceMs : watchMs + timing.graceMs)
    const events = client.watch(resource, {
      ...selection,
      ...(this.#version === undefined ? { initialEvents: true } : { resourceVersion: this.#version }),
      timeoutSeconds: Math.max(1, Math.round(watchMs / 1000)),
      signal,
    })
    for await (const event of events) {
      if (signal.aborted) return
      if (initial) {
        dog.feed()
        if (!collect(initial, event)) continue
        initial = undefined
        dog.relimit(watchMs + timing.graceMs)
      }
      this.#follow(event)
    }
    if (initial) throw new KubeError('KUBE_BAD_ANSWER', 'the watch ended within its initial state')
  }

  #follow(event: WatchEvent<T>): void {
    const { mirror } = this.#options
    if (event.type !== 'OPENED') {
      if (event.type !== 'BOOKMARK') mirror.apply(event.type, event.object)
      this.#version = event.resourceVersion
      this.#failures = 0
    }
    mirror.fresh()
  }

  #waitAfter({ error, silent }: End, lived: number): number {
    const { timing } = this.#options
    const spacing = Math.max(0, timing.minLifeMs - lived)
    if (error === undefined && spacing === 0) {
      this.#failures = 0
      return 0
    }
    if (this.#withoutWatchList(error, silent)) return 0
    this.#failures += 1
    if (isGone(error) || this.#failures % FRUITLESS_LIMIT === 0) this.#version = undefined
    return Math.max(spacing, backoffMs(timing.backoff, this.#failures - 1))
  }

  /** True when the attempt failed because the server cannot send its state in a watch: list from now on. */
  #withoutWatchList(error: unknown, silent = false): boolean {
    if (this.#version !== undefined || !this.#watchList) return false
    if (!silent && !(error instanceof KubeError && NO_WATCH_LIST.has(error.status))) return false
    this.#watchList = false
    return true
  }

  #tell({ error }: End, waitMs: number): void {
    const { log, resource } = this.#options
    const cause = error === undefined ? 'end' : error instanceof HubError ? error.code : 'BROKEN'
    this.#attempts.inc({ resource: resource.plural, cause })
    const fields = { resource: resource.plural, cause, failures: this.#failures, waitMs: Math.round(waitMs) }
    if (error === undefined) log.debug(fields, 'watch ended')
    else
      log.warn(
        { ...fields, reason: messageOf(error), again: this.#version ? 'watch' : 'list' },
        'watch broke',
      )
  }
}

/** Takes one event of the initial state; true when it was the last. */
function collect<T>(snapshot: Snapshot<T>, event: WatchEvent<T>): boolean {
  switch (event.type) {
    case 'OPENED':
      return false
    case 'BOOKMARK':
      if (event.initialEventsEnd) snapshot.commit()
      return event.initialEventsEnd
    case 'DELETED':
      snapshot.remove(event.object)
      return false
    case 'ADDED':
    case 'MODIFIED':
      snapshot.put(event.object)
      return false
  }
}

function isGone(error: unknown): boolean {
  return error instanceof KubeError && error.isGone
}
