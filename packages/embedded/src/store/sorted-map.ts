/** A map whose keys can be walked in order; they are sorted when asked for, not at each write. */
export class SortedMap<T> implements ReadonlyMap<string, T> {
  readonly #map = new Map<string, T>()
  #sorted: readonly string[] | undefined

  get size(): number {
    return this.#map.size
  }

  get(key: string): T | undefined {
    return this.#map.get(key)
  }

  has(key: string): boolean {
    return this.#map.has(key)
  }

  set(key: string, value: T): void {
    if (!this.#map.has(key)) this.#sorted = undefined
    this.#map.set(key, value)
  }

  delete(key: string): void {
    if (this.#map.delete(key)) this.#sorted = undefined
  }

  /** Keys in ascending order of their UTF-16 units, as they are all ASCII. */
  sortedKeys(): readonly string[] {
    this.#sorted ??= [...this.#map.keys()].sort()
    return this.#sorted
  }

  keys(): MapIterator<string> {
    return this.#map.keys()
  }

  values(): MapIterator<T> {
    return this.#map.values()
  }

  entries(): MapIterator<[string, T]> {
    return this.#map.entries()
  }

  forEach(each: (value: T, key: string, map: ReadonlyMap<string, T>) => void): void {
    this.#map.forEach((value, key) => each(value, key, this))
  }

  [Symbol.iterator](): MapIterator<[string, T]> {
    return this.#map.entries()
  }
}
