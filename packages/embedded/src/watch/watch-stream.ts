import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '@upgrade-hub/core'
import type { StatusError } from '../errors.ts'
import type { Accepted } from '../http/negotiate.ts'
import { renderMark, renderObject, type TableOptions } from '../http/render.ts'
import type { Json, JsonObject } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { groupVersion, type Resource } from '../registry/resource.ts'
import type { Change } from '../store/history.ts'
import type { Store } from '../store/store.ts'
import { eventFor, type WatchEvent } from './event-filter.ts'
import type { Watcher, WatchHub } from './watch-hub.ts'

/** A client that lets this much pile up is cut off: it comes back with its last revision. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024
/** A client that reads slower than so many changes happen while it catches up is cut off too. */
const MAX_HELD = 20_000
const BOOKMARK_MS = 60_000
const INITIAL_END = { 'k8s.io/initial-events-end': 'true' }

export interface WatchSpec {
  readonly resource: Resource
  readonly accepted: Accepted
  readonly include: TableOptions['include']
  readonly bookmarks: boolean
  /** Changes up to this revision are known to the client already. */
  readonly after: number
  readonly timeoutMs: number
  /** Decides on an object in the version of the request. */
  isVisible(object: KubeObject): boolean
}

/** What a client is told first. */
export interface WatchStart {
  readonly initial: readonly KubeObject[]
  readonly past: readonly Change[]
  /** Why it cannot watch from where it wants to: said inside the stream, as kube-apiserver does. */
  readonly refused?: StatusError
  readonly markInitialEnd: boolean
}

export interface WatchTools {
  readonly store: Store
  readonly hub: WatchHub
  readonly clock: Clock
}

/** One open watch: writes events as JSON lines until its time is over, the client goes, or the server stops. */
export class WatchStream implements Watcher {
  readonly resource: string
  readonly #spec: WatchSpec
  readonly #tools: WatchTools
  readonly #response: ServerResponse
  readonly #timers: Timer[] = []
  /** What happens while the client still catches up; undefined once everything is sent as it happens. */
  #held: Change[] | undefined = []
  #headers = true
  #open = true

  /** Hears of changes from now on, but writes nothing before `begin`. */
  constructor(response: ServerResponse, spec: WatchSpec, tools: WatchTools) {
    this.resource = spec.resource.storage
    this.#spec = spec
    this.#tools = tools
    this.#response = response
    response.on('close', () => this.#end())
    tools.hub.add(this)
  }

  /** Sends where the client starts and what has changed since, no faster than it reads; then all as it happens. */
  async begin({ initial, past, refused, markInitialEnd }: WatchStart): Promise<void> {
    this.#response.writeHead(200, {
      'content-type': this.#spec.accepted.yaml ? 'application/yaml;stream=watch' : 'application/json',
      'cache-control': 'no-cache, private',
    })
    this.#response.flushHeaders()
    this.#timers.push(this.#tools.clock.after(this.#spec.timeoutMs, () => this.stop()))
    for (const object of initial) {
      this.#send({ type: 'ADDED', object })
      await this.#drained()
    }
    if (markInitialEnd) this.#bookmark(this.#spec.after, INITIAL_END)
    for (const change of past) {
      this.#show(change)
      await this.#drained()
    }
    await this.#release()
    if (refused) this.#write({ type: 'ERROR', object: refused.body() as JsonObject })
    if (refused) this.stop()
    else if (this.#spec.bookmarks && this.#open) this.#bookmarkLater()
  }

  changed(change: Change): void {
    if (!this.#held) this.#show(change)
    else if (this.#held.length < MAX_HELD) this.#held.push(change)
    else this.#response.destroy()
  }

  /** The end that a client expects: after a last bookmark the body is complete. */
  stop(): void {
    if (!this.#open) return
    // A bookmark promises that everything before it was sent.
    if (this.#spec.bookmarks && !this.#held) this.#bookmark(this.#tools.store.committed)
    this.#end()
    this.#response.end()
  }

  /** Sends what was held back, and what comes meanwhile, until nothing is left. */
  async #release(): Promise<void> {
    while (this.#held && this.#held.length > 0) {
      const changes = this.#held
      this.#held = []
      for (const change of changes) {
        this.#show(change)
        await this.#drained()
      }
    }
    this.#held = undefined
  }

  #show(change: Change): void {
    if (!this.#open || change.revision <= this.#spec.after) return
    const { resource } = this.#spec
    const event = eventFor(change, (object) => this.#spec.isVisible(resource.fromStorage(object)))
    if (event) this.#send(event)
  }

  /** Resolves when the client has read what is written, or is gone. */
  async #drained(): Promise<void> {
    const response = this.#response
    if (!this.#open || !response.writableNeedDrain) return
    const { promise, resolve } = Promise.withResolvers<void>()
    response.once('drain', resolve)
    response.once('close', resolve)
    await promise
    response.off('drain', resolve)
    response.off('close', resolve)
  }

  #end(): void {
    this.#open = false
    this.#tools.hub.remove(this)
    for (const timer of this.#timers) timer.cancel()
  }

  #send({ type, object }: WatchEvent): void {
    const { resource, accepted, include } = this.#spec
    const options = { include, now: this.#tools.clock.now(), headers: this.#headers }
    this.#headers = false
    this.#write({ type, object: renderObject(resource, resource.fromStorage(object), accepted, options) })
  }

  #bookmarkLater(): void {
    const timer = this.#tools.clock.after(BOOKMARK_MS, () => {
      this.#bookmark(this.#tools.store.committed)
      if (this.#open) this.#bookmarkLater()
    })
    this.#timers.splice(1, Infinity, timer)
  }

  #bookmark(revision: number, annotations?: Readonly<Record<string, string>>): void {
    const { resource, accepted, after } = this.#spec
    const resourceVersion = String(Math.max(after, revision))
    const metadata = { resourceVersion, ...(annotations ? { annotations } : {}) }
    const mark = {
      kind: resource.kind,
      apiVersion: groupVersion(resource),
      metadata,
    } as unknown as KubeObject
    this.#write({ type: 'BOOKMARK', object: renderMark(resource, mark, accepted) })
  }

  #write(event: { readonly type: string; readonly object: Json }): void {
    if (!this.#open) return
    this.#response.write(`${JSON.stringify(event)}\n`)
    if (this.#response.writableLength > MAX_BUFFERED_BYTES) this.#response.destroy()
  }
}
