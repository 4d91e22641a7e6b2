interface Entry {
  readonly key: string
  readonly at: number
}

/**
 * Keys that are due at an instant, earliest first; a key that is added twice keeps its earlier instant. Entries that were
 * overtaken stay in the heap until they surface, so adding and taking cost log n.
 */
export class DelayHeap {
  readonly #heap: Entry[] = []
  readonly #due = new Map<string, number>()

  get size(): number {
    return this.#due.size
  }

  /** True when this key is now the first that falls due. */
  add(key: string, at: number): boolean {
    const known = this.#due.get(key)
    if (known !== undefined && known <= at) return false
    this.#due.set(key, at)
    this.#heap.push({ key, at })
    this.#up(this.#heap.length - 1)
    return this.#heap[0]?.key === key
  }

  /** The instant of the first key, or undefined. */
  nextAt(): number | undefined {
    this.#dropStale()
    return this.#heap[0]?.at
  }

  /** Takes out every key that is due at `now`, in order. */
  *takeDue(now: number): Generator<string> {
    for (let at = this.nextAt(); at !== undefined && at <= now; at = this.nextAt()) {
      const key = this.#heap[0]?.key ?? ''
      this.#pop()
      this.#due.delete(key)
      yield key
    }
  }

  #dropStale(): void {
    for (let top = this.#heap[0]; top && this.#due.get(top.key) !== top.at; top = this.#heap[0]) this.#pop()
  }

  #pop(): void {
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return
    this.#heap[0] = last
    this.#down(0)
  }

  #up(index: number): void {
    for (let i = index; i > 0; ) {
      const parent = (i - 1) >> 1
      if (this.#at(parent) <= this.#at(i)) return
      this.#swap(i, parent)
      i = parent
    }
  }

  #down(index: number): void {
    for (let i = index; ; ) {
      const left = 2 * i + 1
      const least = this.#at(left + 1) < this.#at(left) ? left + 1 : left
      if (this.#at(least) >= this.#at(i)) return
      this.#swap(i, least)
      i = least
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.at ?? Number.POSITIVE_INFINITY
  }

  #swap(a: number, b: number): void {
    const [x, y] = [this.#heap[a], this.#heap[b]]
    if (x && y) [this.#heap[a], this.#heap[b]] = [y, x]
  }
}
