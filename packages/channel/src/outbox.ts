import type { Clock, Timer } from '@upgrade-hub/core'
import { LIMITS } from '@upgrade-hub/protocol'
import { TokenBucket } from './token-bucket.ts'

/** Below what the hub allows, so that jitter on the way never looks like a flood. */
const SENDS_PER_SECOND = LIMITS.messagesPerSecond * 0.8
const SEND_BURST = LIMITS.messageBurst / 2
const MAX_WAITING = 512

/** Frames of the edge on their way out, held to the hub's rate; bounded in number and bytes. */
export class Outbox {
  readonly #clock: Clock
  readonly #write: (text: string) => boolean
  readonly #bucket: TokenBucket
  #waiting: string[] = []
  #chars = 0
  #timer: Timer | undefined

  constructor(clock: Clock, write: (text: string) => boolean) {
    this.#clock = clock
    this.#write = write
    this.#bucket = new TokenBucket(SENDS_PER_SECOND, SEND_BURST, clock.monotonic())
  }

  /** False when it is full: the caller keeps the message and tries again. */
  push(text: string): boolean {
    if (this.#waiting.length >= MAX_WAITING || this.#chars + text.length > LIMITS.maxQueuedBytes) return false
    this.#waiting.push(text)
    this.#chars += text.length
    this.#drain()
    return true
  }

  stop(): void {
    this.#timer?.cancel()
    this.#waiting = []
  }

  #drain(): void {
    while (this.#waiting.length > 0 && this.#bucket.take(this.#clock.monotonic())) {
      const text = this.#waiting.shift() ?? ''
      this.#chars -= text.length
      this.#write(text)
    }
    this.#timer?.cancel()
    if (this.#waiting.length === 0) return
    this.#timer = this.#clock.after(this.#bucket.waitMs(this.#clock.monotonic()), () => this.#drain())
  }
}
