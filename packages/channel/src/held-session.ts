import { messageOf, type Timer } from '@upgrade-hub/core'
import {
  CLOSE,
  encodeFrame,
  type Frame,
  type FrameDraft,
  type GoAway,
  type Hello,
  LIMITS,
  OPERATION,
  type Welcome,
} from '@upgrade-hub/protocol'
import type { WebSocket } from 'ws'
import type { DialOptions } from './dial.ts'
import { Link, type LinkEnd } from './link.ts'
import { Outbox } from './outbox.ts'
import type { TryEnd } from './reconnect.ts'

/** Heartbeats of a fleet must not fall into step. */
const HEARTBEAT_JITTER = 0.1

/** The edge's end of one connection, from its hello to its end. */
export class HeldSession {
  readonly ended: Promise<TryEnd>
  readonly #options: DialOptions
  readonly #random: () => number
  readonly #link: Link
  readonly #outbox: Outbox
  readonly #over = Promise.withResolvers<TryEnd>()
  #timer: Timer
  #openedAt: number | undefined
  #goAwayMs: number | undefined

  constructor(parts: { ws: WebSocket; hello: Promise<Hello>; options: DialOptions; random: () => number }) {
    const { ws, hello, options, random } = parts
    const { nodeName, clock, log, signal } = options
    this.#options = options
    this.#random = random
    this.ended = this.#over.promise
    this.#link = new Link({
      ws,
      speaker: 'edge',
      nodeName,
      first: OPERATION.welcome,
      clock,
      log,
      events: {
        frame: (frame) => this.#onFrame(frame),
        closed: (end) => this.#onClosed(end),
        refused: (code) => log.warn({ code }, 'frame of the hub refused'),
      },
    })
    this.#outbox = new Outbox(clock, (text) => this.#link.write(text))
    this.#timer = clock.after(LIMITS.handshakeTimeoutMs, () =>
      this.#link.close(CLOSE.unsupportedPeer, 'NoWelcome'),
    )
    signal.addEventListener('abort', this.#onAbort, { once: true })
    hello.then(
      (content) => this.#link.send({ operation: OPERATION.hello, content }),
      (error: unknown) => this.#link.abort(1006, messageOf(error)),
    )
  }

  get isOpen(): boolean {
    return this.#openedAt !== undefined && !this.#link.ended
  }

  send(draft: FrameDraft): boolean {
    return this.isOpen && this.#outbox.push(encodeFrame(draft, 'edge', this.#options.clock.now()))
  }

  keepalive(): void {
    const probe = this.#options.probe()
    this.send({ operation: OPERATION.keepalive, content: probe ? { probe } : {} })
  }

  #onFrame(frame: Frame): void {
    if (frame.operation === OPERATION.welcome) return this.#onWelcome(frame.content as Welcome)
    if (frame.operation === OPERATION.goAway) return this.#onGoAway(frame.content as GoAway)
    this.#options.onFrame(frame)
  }

  #onWelcome(welcome: Welcome): void {
    this.#openedAt = this.#options.clock.monotonic()
    this.#beatLater(welcome.heartbeatSeconds * 1000)
    this.#options.onStateChange?.({ state: 'open' })
    this.#options.onWelcome(welcome)
  }

  #beatLater(heartbeatMs: number): void {
    this.#timer.cancel()
    const jitter = 1 + HEARTBEAT_JITTER * (2 * this.#random() - 1)
    this.#timer = this.#options.clock.after(heartbeatMs * jitter, () => {
      if (this.#link.endIfSilent(heartbeatMs)) return
      this.keepalive()
      this.#beatLater(heartbeatMs)
    })
  }

  #onGoAway({ retryAfterSeconds }: GoAway): void {
    this.#goAwayMs = retryAfterSeconds * 1000
    this.#link.close(CLOSE.normal, 'GoAway')
  }

  readonly #onAbort = (): void => this.#link.close(CLOSE.goingAway, 'Stopping')

  #onClosed(end: LinkEnd): void {
    this.#timer.cancel()
    this.#outbox.stop()
    this.#options.signal.removeEventListener('abort', this.#onAbort)
    const openMs = this.#openedAt === undefined ? 0 : this.#options.clock.monotonic() - this.#openedAt
    this.#over.resolve({
      ...end,
      openMs,
      ...(this.#goAwayMs === undefined ? {} : { retryAfterMs: this.#goAwayMs }),
    })
  }
}
