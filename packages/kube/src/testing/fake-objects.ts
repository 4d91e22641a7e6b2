import type { KubeObject } from '../types.ts'

export interface StoredEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly collection: string
  readonly object: FakeObject
  readonly version: number
}

export type FakeObject = KubeObject & Record<string, unknown>

/** What etcd is to the fake API server: objects by path, one version for all writes, and the history of them. */
export class FakeObjects {
  readonly #objects = new Map<string, { collection: string; object: FakeObject }>()
  readonly #history: StoredEvent[] = []
  readonly #listeners = new Set<(event: StoredEvent) => void>()
  #version = 100
  #oldest = 0

  get version(): number {
    return this.#version
  }

  /** Versions below this are gone. */
  get oldest(): number {
    return this.#oldest
  }

  get(path: string): FakeObject | undefined {
    return this.#objects.get(path)?.object
  }

  /** The objects of a collection, in the order of their paths. */
  list(isIn: (collection: string) => boolean): FakeObject[] {
    return [...this.#objects.entries()]
      .filter(([, entry]) => isIn(entry.collection))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, entry]) => entry.object)
  }

  /** Stores the object with the next version. */
  put(collection: string, path: string, object: FakeObject): FakeObject {
    this.#version += 1
    const old = this.#objects.get(path)
    const metadata = {
      ...object.metadata,
      uid: old?.object.metadata.uid ?? `uid-${this.#version}`,
      resourceVersion: String(this.#version),
    }
    const stored = { ...object, metadata }
    this.#objects.set(path, { collection, object: stored })
    this.#record({ type: old ? 'MODIFIED' : 'ADDED', collection, object: stored, version: this.#version })
    return stored
  }

  delete(path: string): FakeObject | undefined {
    const entry = this.#objects.get(path)
    if (!entry) return undefined
    this.#version += 1
    this.#objects.delete(path)
    const metadata = { ...entry.object.metadata, resourceVersion: String(this.#version) }
    const object = { ...entry.object, metadata }
    this.#record({ type: 'DELETED', collection: entry.collection, object, version: this.#version })
    return object
  }

  /** Forgets the history, as etcd does after five minutes. */
  compact(): void {
    this.#oldest = this.#version
    this.#history.length = 0
  }

  since(version: number): StoredEvent[] {
    return this.#history.filter((event) => event.version > version)
  }

  onEvent(listener: (event: StoredEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #record(event: StoredEvent): void {
    this.#history.push(event)
    for (const listener of this.#listeners) listener(event)
  }
}
