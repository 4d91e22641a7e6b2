import { randomBytes } from 'node:crypto'
import {
  type Clock,
  type Counter,
  type Logger,
  type Metrics,
  messageOf,
  microTime,
  noMetrics,
} from '@upgrade-hub/core'
import type { KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import { EVENTS, type Event, type ObjectReference } from './resources.ts'
import { TokenBucket } from './token-bucket.ts'

/** What happened to which object. */
export interface EventDraft {
  readonly regarding: ObjectReference
  readonly type: 'Normal' | 'Warning'
  /** UpperCamelCase, for machines. */
  readonly reason: string
  /** For people. */
  readonly note: string
  /** What was done about it; default: the reason. */
  readonly action?: string
}

export interface EventRecorderOptions {
  readonly client: KubeClient
  /** A qualified name such as `upgradehub.io/hub`. */
  readonly reportingController: string
  readonly reportingInstance: string
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: Metrics
}

interface Series {
  readonly draft: EventDraft
  readonly name: string
  readonly firstAt: number
  lastAt: number
  count: number
  /** What the API server knows; 0: not even the event. */
  stored: number
}

/** Limits of events.k8s.io/v1 validation. */
const MAX_NOTE_BYTES = 1024
const MAX_REASON_LENGTH = 128
const MAX_NAME_LENGTH = 253

/** Equal events within this time are one event with a count. */
const SERIES_MS = 360_000
const MAX_SERIES = 1_000
/** A count is brought up to date this long after it grew. */
const RECOUNT_MS = 10_000
const FLUSH_MS = 5_000
const RATE = { perSecond: 25, burst: 100 }

/** Tells people what happened, as Kubernetes events. They are a courtesy: never waited for, dropped when too many. */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #clock: Clock
  readonly #series = new Map<string, Series>()
  readonly #waiting = new Set<string>()
  readonly #bucket: TokenBucket
  readonly #dropped: Counter
  #draining: Promise<void> | undefined

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#bucket = new TokenBucket(options.clock, RATE)
    this.#dropped = (options.metrics ?? noMetrics).counter(
      'upgradehub_events_dropped_total',
      'Events not sent.',
    )
  }

  /** Takes the event over; never throws and never waits. */
  record(draft: EventDraft): void {
    const { regarding, type, reason, note, action } = draft
    const key = JSON.stringify([regarding.kind, regarding.uid, regarding.name, type, reason, action, note])
    const known = this.#recent(key)
    if (known) this.#repeat(key, known)
    else if (this.#hasRoom()) this.#begin(key, draft)
    else this.#dropped.inc()
  }

  /** Sends what waits, repeats included; gives up after 5 s. */
  async flush(): Promise<void> {
    for (const [key, series] of this.#series) if (series.count > series.stored) this.#waiting.add(key)
    const limit = new AbortController()
    const timeout = this.#clock.sleep(FLUSH_MS, limit.signal).catch(() => undefined)
    await Promise.race([this.#drain(), timeout])
    limit.abort()
  }

  #recent(key: string): Series | undefined {
    const series = this.#series.get(key)
    return series && this.#clock.monotonic() - series.lastAt < SERIES_MS ? series : undefined
  }

  #begin(key: string, draft: EventDraft): void {
    const now = this.#clock.monotonic()
    const suffix = `.${randomBytes(8).toString('hex')}`
    const name = draft.regarding.name.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix
    this.#series.delete(key)
    this.#series.set(key, {
      draft,
      name,
      firstAt: this.#options.client.serverNow(),
      lastAt: now,
      count: 1,
      stored: 0,
    })
    this.#waiting.add(key)
    void this.#drain()
  }

  #repeat(key: string, series: Series): void {
    const isFirstSinceStored = series.count === series.stored
    series.count += 1
    series.lastAt = this.#clock.monotonic()
    if (!isFirstSinceStored) return
    this.#clock.after(RECOUNT_MS, () => {
      this.#waiting.add(key)
      void this.#drain()
    })
  }

  /** Makes room by forgetting the oldest series that is stored. */
  #hasRoom(): boolean {
    if (this.#series.size < MAX_SERIES) return true
    for (const [key, series] of this.#series) {
      if (series.count > series.stored) continue
      this.#series.delete(key)
      return true
    }
    return false
  }

  #drain(): Promise<void> {
    this.#draining ??= Promise.resolve().then(() => this.#sendAll())
    return this.#draining
  }

  async #sendAll(): Promise<void> {
    for (const key of this.#waiting) {
      this.#waiting.delete(key)
      const series = this.#series.get(key)
      if (!series || series.count === series.stored) continue
      const waitMs = this.#bucket.reserve()
      if (waitMs > 0) await this.#clock.sleep(waitMs)
      await this.#send(key, series)
    }
    // In the same breath as the look at an empty queue, so that nothing is added in between and left lying.
    this.#draining = undefined
  }

  async #send(key: string, series: Series): Promise<void> {
    const { count } = series
    try {
      if (series.stored === 0 || !(await this.#recount(series))) await this.#create(series)
      series.stored = count
    } catch (error) {
      this.#series.delete(key)
      this.#dropped.inc()
      this.#options.log.debug({ reason: messageOf(error) }, 'an event was dropped')
    }
  }

  /** False when the server has forgotten the event, as it does after an hour. */
  async #recount(series: Series): Promise<boolean> {
    try {
      const namespace = namespaceOf(series.draft)
      await this.#options.client.patch(EVENTS, series.name, { series: this.#seriesOf(series) }, { namespace })
      return true
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return false
      throw error
    }
  }

  async #create(series: Series): Promise<void> {
    const { reportingController, reportingInstance, client } = this.#options
    const { draft, name, firstAt, count } = series
    const namespace = namespaceOf(draft)
    const event: Event = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: microTime(firstAt),
      reportingController,
      reportingInstance: reportingInstance.slice(0, MAX_REASON_LENGTH),
      action: (draft.action ?? draft.reason).slice(0, MAX_REASON_LENGTH),
      reason: draft.reason.slice(0, MAX_REASON_LENGTH),
      type: draft.type,
      note: cutToBytes(draft.note, MAX_NOTE_BYTES),
      regarding: draft.regarding,
      ...(count > 1 ? { series: this.#seriesOf(series) } : {}),
    }
    await client.create(EVENTS, event, { namespace })
  }

  #seriesOf({ count }: Series): NonNullable<Event['series']> {
    return { count, lastObservedTime: microTime(this.#options.client.serverNow()) }
  }
}

/** Events about cluster-scoped objects live in `default`, where kubectl looks for them. */
function namespaceOf(draft: EventDraft): string {
  return draft.regarding.namespace ?? 'default'
}

function cutToBytes(text: string, bytes: number): string {
  const buffer = Buffer.from(text)
  return buffer.length <= bytes
    ? text
    : new TextDecoder().decode(buffer.subarray(0, bytes - 3)).replace(/\uFFFD?$/, '…')
}
