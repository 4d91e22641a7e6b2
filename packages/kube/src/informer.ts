import {
  type Clock,
  type Gauge,
  invariant,
  type Logger,
  type Metrics,
  messageOf,
  noMetrics,
} from '@upgrade-hub/core'
import type { KubeClient } from './client.ts'
import type { Selection } from './options.ts'
import { DEFAULT_TIMING, Reflector, type ReflectorTiming, type Snapshot } from './reflector.ts'
import type { Resource } from './resources.ts'
import { type Change, type IndexFunctions, Store } from './store.ts'
import type { KubeObject } from './types.ts'

export interface InformerOptions<T, S> extends Selection {
  readonly client: KubeClient
  readonly resource: Resource<T>
  /** What is kept of an object. Default: the object without its managedFields. */
  readonly project?: (object: T) => S
  /** Default: `name`, or `namespace/name`. */
  readonly key?: (object: T) => string
  readonly indexes?: IndexFunctions<S>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: Metrics
  readonly timing?: Partial<ReflectorTiming>
}

export type Listener<S> = (change: Change<S>) => void

const STALENESS_REPORT_MS = 10_000

/**
 * A kind of the API server, mirrored here: look-ups without a request, and a call for every change. The mirror may lag
 * (`staleMs`), so a write based on it must carry a resourceVersion.
 */
export class Informer<T extends KubeObject, S = T> {
  readonly #options: InformerOptions<T, S>
  readonly #reflector: Reflector<T>
  readonly #store: Store<S>
  readonly #listeners = new Set<Listener<S>>()
  readonly #stale: Gauge
  readonly #items: Gauge
  readonly #firstSync = Promise.withResolvers<void>()
  #hasSynced = false
  #freshAt: number | undefined
  #running = false

  constructor(options: InformerOptions<T, S>) {
    const { client, resource, namespace, labelSelector, fieldSelector, clock, log } = options
    const metrics = options.metrics ?? noMetrics
    this.#options = options
    this.#store = new Store(options.indexes)
    const gauge = (name: string, help: string) =>
      metrics.gauge(`upgradehub_kube_informer_${name}`, help, ['resource'])
    this.#stale = gauge('stale_seconds', 'Time since the API server last confirmed the mirror.')
    this.#items = gauge('items', 'Objects in the mirror.')
    this.#reflector = new Reflector<T>({
      client,
      resource,
      selection: {
        ...(namespace === undefined ? {} : { namespace }),
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      },
      mirror: {
        begin: () => this.#begin(),
        apply: (type, object) => this.#apply(type, object),
        fresh: () => this.#fresh(),
      },
      timing: { ...DEFAULT_TIMING, ...options.timing },
      clock,
      log,
      metrics,
    })
  }

  /** Mirrors until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    invariant(!this.#running, `the informer of ${this.#options.resource.plural} runs already`)
    this.#running = true
    try {
      await Promise.all([this.#reflector.run(signal), this.#reportStaleness(signal)])
    } finally {
      this.#running = false
    }
  }

  /** Resolves once the whole state is here; rejects with the signal's reason. */
  synced(signal?: AbortSignal): Promise<void> {
    if (this.#hasSynced || !signal) return this.#firstSync.promise
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason as Error)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      void this.#firstSync.promise.then(() => {
        signal.removeEventListener('abort', abort)
        resolve()
      })
    })
  }

  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** Time since the API server last confirmed the mirror; Infinity before the first sync. */
  staleMs(): number {
    if (this.#freshAt === undefined) return Number.POSITIVE_INFINITY
    return this.#options.clock.monotonic() - this.#freshAt
  }

  get size(): number {
    return this.#store.size
  }

  get(key: string): S | undefined {
    return this.#store.get(key)
  }

  list(): S[] {
    return this.#store.list()
  }

  /** The items with `value` in the index `index`, which was named in the constructor. */
  by(index: string, value: string): readonly S[] {
    return this.#store.by(index, value)
  }

  /** Calls for every change from now on, after it is in the store. Returns how to stop it. */
  onChange(listener: Listener<S>): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells every listener of every item again, as updated from itself. Nothing is asked of the server. */
  resync(): void {
    for (const key of this.#store.keys()) {
      const item = this.#store.get(key)
      if (item !== undefined) this.#notify({ type: 'updated', key, item, previous: item })
    }
  }

  #begin(): Snapshot<T> {
    const arrived = new Map<string, { item: S; resourceVersion: string }>()
    return {
      put: (object) => {
        const entry = this.#entryOf(object)
        if (entry) arrived.set(entry.key, entry)
      },
      remove: (object) => arrived.delete(this.#keyOf(object)),
      commit: () => this.#replace(arrived),
    }
  }

  /** Listeners hear of the changes when all of them are in the store: nobody sees half a state. */
  #replace(arrived: ReadonlyMap<string, { item: S; resourceVersion: string }>): void {
    const changes: (Change<S> | undefined)[] = []
    for (const key of this.#store.keys()) if (!arrived.has(key)) changes.push(this.#store.remove(key))
    for (const [key, { item, resourceVersion }] of arrived) {
      changes.push(this.#store.put(key, item, resourceVersion))
    }
    this.#items.set(this.#store.size, this.#labels)
    this.#hasSynced = true
    this.#fresh()
    this.#firstSync.resolve()
    for (const change of changes) this.#notify(change)
  }

  #apply(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const entry = this.#entryOf(object)
    if (!entry) return
    const { key, item, resourceVersion } = entry
    const change =
      type === 'DELETED' ? this.#store.remove(key, item) : this.#store.put(key, item, resourceVersion)
    this.#items.set(this.#store.size, this.#labels)
    this.#notify(change)
  }

  #entryOf(object: T): { key: string; item: S; resourceVersion: string } | undefined {
    try {
      const item = (this.#options.project ?? withoutManagedFields<T, S>)(object)
      return { key: this.#keyOf(object), item, resourceVersion: object.metadata.resourceVersion ?? '' }
    } catch (error) {
      const { name, namespace } = object.metadata
      this.#options.log.error(
        { name, namespace, reason: messageOf(error) },
        'an object could not be read and is left out',
      )
      return undefined
    }
  }

  #keyOf(object: T): string {
    return (this.#options.key ?? keyOf)(object)
  }

  #notify(change: Change<S> | undefined): void {
    if (!change) return
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#options.log.error({ key: change.key, reason: messageOf(error) }, 'a listener failed')
      }
    }
  }

  #fresh(): void {
    if (this.#hasSynced) this.#freshAt = this.#options.clock.monotonic()
  }

  async #reportStaleness(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#freshAt !== undefined) this.#stale.set(this.staleMs() / 1000, this.#labels)
      await this.#options.clock.sleep(STALENESS_REPORT_MS, signal).catch(() => undefined)
    }
  }

  get #labels(): { resource: string } {
    return { resource: this.#options.resource.plural }
  }
}

/** `name` of a cluster-scoped object, `namespace/name` of any other: the default key of an informer. */
export function keyOf(object: KubeObject): string {
  const { name, namespace } = object.metadata
  return namespace ? `${namespace}/${name}` : name
}

/** managedFields are often half of an object and of no use to a reader of its state. */
function withoutManagedFields<T extends KubeObject, S>(object: T): S {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata } as unknown as S
}
