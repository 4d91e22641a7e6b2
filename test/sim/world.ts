/** A seeded random source: the same seed gives the same run for ever (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)]
    if (item === undefined) throw new RangeError('nothing to pick from')
    return item
  }
}

interface Due {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

/** Virtual time: what is due runs in the order of time, then of asking. Nothing waits for a real clock. */
export class World {
  readonly random: Random
  /** What happened, a line each; the last of them are printed when a run breaks a rule. */
  readonly log: string[] = []
  readonly broken: string[] = []
  now = Date.parse('2026-01-01T00:00:00Z')
  #order = 0
  readonly #heap: Due[] = []

  constructor(seed: number) {
    this.random = new Random(seed)
  }

  after(ms: number, run: () => void): void {
    this.#push({ at: this.now + Math.max(0, Math.round(ms)), order: this.#order++, run })
  }

  /** Runs until nothing is due, `until` says so, or the time is over; false in the last case. */
  run(limitMs: number, until: () => boolean): boolean {
    const end = this.now + limitMs
    for (let steps = 0; this.#heap.length > 0; steps++) {
      if (until()) return true
      const next = this.#pop()
      if (!next || next.at > end || steps > MAX_STEPS) return false
      this.now = next.at
      next.run()
    }
    return until()
  }

  say(line: string): void {
    this.log.push(`${new Date(this.now).toISOString().slice(11, 23)} ${line}`)
  }

  /** A rule that must hold does not. */
  breach(line: string): void {
    this.say(`BROKEN: ${line}`)
    this.broken.push(line)
  }

  #push(due: Due): void {
    const heap = this.#heap
    heap.push(due)
    let at = heap.length - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(heap[at], heap[parent])) break
      this.#swap(at, parent)
      at = parent
    }
  }

  #pop(): Due | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length === 0 || last === undefined) return first
    heap[0] = last
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      const smaller = isBefore(heap[left + 1], heap[left]) ? left + 1 : left
      if (!isBefore(heap[smaller], heap[at])) return first
      this.#swap(at, smaller)
      at = smaller
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap
    const one = heap[a]
    const other = heap[b]
    if (one && other) {
      heap[a] = other
      heap[b] = one
    }
  }
}

const MAX_STEPS = 100_000

function isBefore(left: Due | undefined, right: Due | undefined): boolean {
  if (!left || !right) return left !== undefined
  return left.at - right.at < 0 || (left.at === right.at && left.order < right.order)
}
