/**
 * Items in order, found by binary search: adding and removing cost a search and a move of pointers, which stays far below
 * a decision's own cost at ten thousand items.
 */
export class SortedList<T> {
  readonly #items: T[] = []
  readonly #compare: (left: T, right: T) => number

  /** `compare` must be a total order: two items that compare equal are the same item. */
  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  add(item: T): void {
    const at = this.#indexOf(item)
    const found = this.#items[at]
    if (found !== undefined && this.#compare(found, item) === 0) this.#items[at] = item
    else this.#items.splice(at, 0, item)
  }

  remove(item: T): void {
    const at = this.#indexOf(item)
    const found = this.#items[at]
    if (found !== undefined && this.#compare(found, item) === 0) this.#items.splice(at, 1)
  }

  /** The first `count` items. */
  first(count: number): readonly T[] {
    return this.#items.slice(0, Math.max(0, count))
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#items[Symbol.iterator]()
  }

  #indexOf(item: T): number {
    let low = 0
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = this.#items[middle]
      if (at !== undefined && this.#compare(at, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
