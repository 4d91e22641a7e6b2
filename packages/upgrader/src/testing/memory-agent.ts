import type { Clock, Timer } from '@upgrade-hub/core'
import type { Service, ServiceState } from '../service/service.ts'

/** An agent that runs in memory, from what is at its path when it is started. */
export class MemoryAgent implements Service {
  readonly starts: string[] = []
  /** Who could start or stop it has ended. */
  isFrozen = false
  #program: string | undefined
  #looks = 0
  readonly #read: () => string

  constructor(read: () => string) {
    this.#read = read
  }

  /** What runs; undefined when nothing does. */
  get running(): string | undefined {
    return this.#program
  }

  state(): Promise<ServiceState> {
    // It takes a look or two until a bad agent has ended.
    if (this.#program?.includes('# crashes at once') && this.#looks++ > 1) this.#program = undefined
    return Promise.resolve({
      running: this.#program !== undefined,
      starting: false,
      identity: String(this.starts.length),
    })
  }

  problem(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  hold(): Promise<void> {
    return Promise.resolve()
  }

  release(): Promise<void> {
    return Promise.resolve()
  }

  stop(): Promise<void> {
    if (this.isFrozen) return Promise.reject(new Error('the process has ended'))
    this.#program = undefined
    return Promise.resolve()
  }

  start(): Promise<void> {
    if (this.isFrozen) return Promise.reject(new Error('the process has ended'))
    if (this.#program !== undefined) return Promise.resolve()
    this.#program = this.#read()
    this.#looks = 0
    this.starts.push(this.#program)
    return Promise.resolve()
  }
}

/** What a sleep of the gate's watcher takes: it ends with its step. */
const WATCH_MS = 250

/** A clock on which a sleep takes no time but its own. */
export class HastyClock implements Clock {
  wall: number
  #mono = 0
  #timers = new Set<{ at: number; run: () => void }>()

  constructor(wall = Date.parse('2026-01-01T00:00:00Z')) {
    this.wall = wall
  }

  now(): number {
    return this.wall
  }

  monotonic(): number {
    return this.#mono
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (ms === WATCH_MS && signal) await new Promise((_, reject) => signal.addEventListener('abort', reject))
    this.#mono += ms
    this.wall += ms
    for (const timer of this.#timers) if (timer.at <= this.#mono && this.#timers.delete(timer)) timer.run()
    await new Promise((resolve) => setImmediate(resolve))
  }

  after(ms: number, run: () => void): Timer {
    const timer = { at: this.#mono + ms, run }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }
}
