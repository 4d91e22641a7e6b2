/** What happened to one item of a store. `previous` is what the listener saw before. */
export interface Change<S> {
  readonly type: 'added' | 'updated' | 'deleted'
  readonly key: string
  readonly item: S
  readonly previous?: S
}

export type IndexFunctions<S> = Readonly<Record<string, (item: S) => readonly string[]>>

interface Entry<S> {
  readonly item: S
  readonly resourceVersion: string
}

/**
 * Items by key and by named indexes. Indexes cost what an item says about itself, so that a look-up never walks the
 * store.
 */
export class Store<S> {
  readonly #entries = new Map<string, Entry<S>>()
  readonly #functions: IndexFunctions<S>
  readonly #indexes = new Map<string, Map<string, Map<string, S>>>()

  constructor(functions: IndexFunctions<S> = {}) {
    this.#functions = functions
    for (const name of Object.keys(functions)) this.#indexes.set(name, new Map())
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): S | undefined {
    return this.#entries.get(key)?.item
  }

  list(): S[] {
    return Array.from(this.#entries.values(), (entry) => entry.item)
  }

  keys(): string[] {
    return [...this.#entries.keys()]
  }

  /** The items that have `value` in the index `name`. */
  by(name: string, value: string): readonly S[] {
    const found = this.#indexes.get(name)?.get(value)
    return found ? [...found.values()] : []
  }

  /** Stores an item; undefined when this version of it is stored already. */
  put(key: string, item: S, resourceVersion: string): Change<S> | undefined {
    const old = this.#entries.get(key)
    if (old?.resourceVersion === resourceVersion) return undefined
    if (old) this.#unindex(key, old.item)
    this.#entries.set(key, { item, resourceVersion })
    this.#index(key, item)
    return old ? { type: 'updated', key, item, previous: old.item } : { type: 'added', key, item }
  }

  /** Removes an item; the change carries its last state. */
  remove(key: string, last?: S): Change<S> | undefined {
    const old = this.#entries.get(key)
    if (!old) return undefined
    this.#entries.delete(key)
    this.#unindex(key, old.item)
    return { type: 'deleted', key, item: last ?? old.item, previous: old.item }
  }

  #index(key: string, item: S): void {
    for (const [name, valuesOf] of Object.entries(this.#functions)) {
      const index = this.#indexes.get(name)
      for (const value of valuesOf(item)) {
        const bucket = index?.get(value) ?? new Map<string, S>()
        bucket.set(key, item)
        index?.set(value, bucket)
      }
    }
  }

  #unindex(key: string, item: S): void {
    for (const [name, valuesOf] of Object.entries(this.#functions)) {
      const index = this.#indexes.get(name)
      for (const value of valuesOf(item)) {
        const bucket = index?.get(value)
        bucket?.delete(key)
        if (bucket?.size === 0) index?.delete(value)
      }
    }
  }
}
