import type { Clock, Timer } from '../clock.ts'

interface Due {
  at: number
  order: number
  run: () => void
}

/** A clock that stands still until a test moves it; timers fire in time order, then in the order they were set. */
export class FakeClock implements Clock {
  #wall: number
  #mono = 0
  #order = 0
  #due: Due[] = []

  constructor(startMs = Date.parse('2026-01-01T00:00:00Z')) {
    this.#wall = startMs
  }

  now(): number {
    return this.#wall
  }

  monotonic(): number {
    return this.#mono
  }

  after(ms: number, run: () => void): Timer {
    const due = { at: this.#mono + Math.max(0, ms), order: this.#order++, run }
    this.#due.push(due)
    return {
      cancel: () => {
        this.#due = this.#due.filter((other) => other !== due)
      },
    }
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      const onAbort = () => {
        timer.cancel()
        reject(signal?.reason as Error)
      }
      const timer = this.after(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Moves both clocks on by `ms`, firing what falls due and letting promises settle in between. */
  async advance(ms: number): Promise<void> {
    const target = this.#mono + ms
    for (;;) {
      await settle()
      const next = this.#due.filter((d) => d.at <= target).sort((a, b) => a.at - b.at || a.order - b.order)[0]
      if (!next) break
      this.#due = this.#due.filter((d) => d !== next)
      this.#wall += next.at - this.#mono
      this.#mono = next.at
      next.run()
    }
    this.#wall += target - this.#mono
    this.#mono = target
    await settle()
  }

  /** Moves the wall clock alone, as an operator or NTP does. */
  jumpWall(ms: number): void {
    this.#wall += ms
  }

  get pending(): number {
    return this.#due.length
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve()
  await new Promise((resolve) => setImmediate(resolve))
}
