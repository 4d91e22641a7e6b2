import type { Change } from '../store/history.ts'
import type { Store } from '../store/store.ts'

/** Hears of every change of one resource, after its commit and in order. */
export interface Watcher {
  readonly resource: string
  changed(change: Change): void
  /** The resource is no longer served, or the server stops. */
  stop(): void
}

/** Who watches what. */
export class WatchHub {
  readonly #watchers = new Map<string, Set<Watcher>>()
  #count = 0

  constructor(store: Store) {
    store.onCommit((changes) => {
      for (const change of changes) {
        for (const watcher of this.#watchers.get(change.resource) ?? []) watcher.changed(change)
      }
    })
  }

  get count(): number {
    return this.#count
  }

  add(watcher: Watcher): void {
    const watchers = this.#watchers.get(watcher.resource) ?? new Set()
    this.#watchers.set(watcher.resource, watchers.add(watcher))
    this.#count += 1
  }

  remove(watcher: Watcher): void {
    if (this.#watchers.get(watcher.resource)?.delete(watcher)) this.#count -= 1
  }

  /** Ends the watches of one resource, or all of them. */
  stop(resource?: string): void {
    for (const [name, watchers] of this.#watchers) {
      if (resource !== undefined && name !== resource) continue
      for (const watcher of [...watchers]) watcher.stop()
    }
  }
}
