import type { ServerResponse } from 'node:http'
import type { Clock, Timer } from '@upgrade-hub/core'
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
const BOOKMARK_MS = 60_000

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

  /** Sends the state that the client starts from, and what has changed since; then everything as it happens. */
  begin(initial: readonly KubeObject[], past: readonly Change[], markInitialEnd: boolean): void {
    this.#response.writeHead(200, {
      'content-type': this.#spec.accepted.yaml ? 'application/yaml;stream=watch' : 'application/json',
      'cache-control': 'no-cache, private',
    })
    this.#response.flushHeaders()
    for (const object of initial) this.#send({ type: 'ADDED', object })
    if (markInitialEnd) this.#bookmark({ 'k8s.io/initial-events-end': 'true' })
    const held = this.#held ?? []
    this.#held = undefined
    for (const change of [...past, ...held]) this.changed(change)
    this.#timers.push(this.#tools.clock.after(this.#spec.timeoutMs, () => this.stop()))
    if (this.#spec.bookmarks) this.#bookmarkLater()
  }

  changed(change: Change): void {
    if (this.#held) {
      this.#held.push(change)
      return
    }
    if (!this.#open || change.revision <= this.#spec.after) return
    const { resource } = this.#spec
    const event = eventFor(change, (object) => this.#spec.isVisible(resource.fromStorage(object)))
    if (event) this.#send(event)
  }

  /** The end that a client expects: after a last bookmark the body is complete. */
  stop(): void {
    if (!this.#open) return
    if (this.#spec.bookmarks && this.#response.headersSent) this.#bookmark()
    this.#end()
    this.#response.end()
  }

  /** Tells why the watch cannot be, inside the stream as kube-apiserver does, and ends it. */
  fail(status: object): void {
    this.#write({ type: 'ERROR', object: status as JsonObject })
    this.stop()
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
      this.#bookmark()
      if (this.#open) this.#bookmarkLater()
    })
    this.#timers.splice(1, Infinity, timer)
  }

  #bookmark(annotations?: Readonly<Record<string, string>>): void {
    const { resource, accepted } = this.#spec
    const revision = Math.max(this.#spec.after, this.#tools.store.committed)
    const metadata = { resourceVersion: String(revision), ...(annotations ? { annotations } : {}) }
    const object = {
      kind: resource.kind,
      apiVersion: groupVersion(resource),
      metadata,
    } as unknown as KubeObject
    this.#write({ type: 'BOOKMARK', object: renderMark(resource, object, accepted) })
  }

  #write(event: { readonly type: string; readonly object: Json }): void {
    if (!this.#open) return
    this.#response.write(`${JSON.stringify(event)}\n`)
    if (this.#response.writableLength > MAX_BUFFERED_BYTES) this.#response.destroy()
  }
}
