/** Above this a chunk is halved: a change moves no more than so many pointers, whatever the size of the list. */
const CHUNK = 128

/** Items in order, found by binary search, in chunks: what a change costs hardly grows with the number of items. */
export class SortedList<T> {
  readonly #chunks: T[][] = []
  readonly #compare: (left: T, right: T) => number
  #size = 0

  /** `compare` must be a total order: two items that compare equal are the same item. */
  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
  }

  add(item: T): void {
    const at = Math.min(this.#chunkOf(item), Math.max(0, this.#chunks.length - 1))
    const chunk = (this.#chunks[at] ??= [])
    const place = this.#placeIn(chunk, item)
    if (this.#isAt(chunk, place, item)) {
      chunk[place] = item
      return
    }
    chunk.splice(place, 0, item)
    this.#size += 1
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2))
  }

  remove(item: T): void {
    const at = this.#chunkOf(item)
    const chunk = this.#chunks[at]
    if (!chunk) return
    const place = this.#placeIn(chunk, item)
    if (!this.#isAt(chunk, place, item)) return
    chunk.splice(place, 1)
    this.#size -= 1
    if (chunk.length === 0) this.#chunks.splice(at, 1)
  }

  /** The first `count` items. */
  first(count: number): readonly T[] {
    const found: T[] = []
    for (const chunk of this.#chunks) {
      if (found.length >= count) break
      found.push(...chunk.slice(0, count - found.length))
    }
    return found
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const chunk of this.#chunks) yield* chunk
  }

  /** The first chunk whose last item is not before the item. */
  #chunkOf(item: T): number {
    return firstIndex(this.#chunks.length, (at) => {
      const last = this.#chunks[at]?.at(-1)
      return last !== undefined && this.#compare(last, item) >= 0
    })
  }

  #placeIn(chunk: readonly T[], item: T): number {
    return firstIndex(chunk.length, (at) => {
      const found = chunk[at]
      return found !== undefined && this.#compare(found, item) >= 0
    })
  }

  #isAt(chunk: readonly T[], place: number, item: T): boolean {
    const found = chunk[place]
    return found !== undefined && this.#compare(found, item) === 0
  }
}

/** The lowest index below `length` from which on `holds` is true; `length` when it never is. */
function firstIndex(length: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
