import type { Clock, Logger } from '@upgrade-hub/core'
import {
  type Frame,
  type Hello,
  type Keepalive,
  OPERATION,
  type Probe,
  type Welcome,
} from '@upgrade-hub/protocol'
import type { WebSocket } from 'ws'
import { Link, type LinkEnd } from './link.ts'

/** An edge that is connected: what it said of itself, and the way to it. */
export interface EdgeSession {
  readonly nodeName: string
  readonly hello: Hello
  /** The newest probe: the hello's, or that of a later keepalive. */
  readonly probe: Probe
  /** Wall clock of the hub, ms. */
  readonly openedAt: number
  /**
   * False when the session is over. True is no proof of arrival: only an answer is.
   * @throws ProtocolError PROTOCOL_TOO_BIG
   */
  send(operation: string, resource: string, content: unknown, options?: { parentId?: string }): boolean
  /** Every frame but keepalives, checked against its schema and against the node's name, in order. */
  onFrame(listener: (frame: Frame) => void): void
  /** Called when a keepalive brings another probe than the last one. */
  onProbe(listener: (probe: Probe) => void): void
  /** Ends in order with a code of `CLOSE`; the first call decides. */
  close(code: number, reason: string): void
  readonly closed: Promise<LinkEnd>
}

export interface SessionEvents {
  hello(session: AcceptedSession, hello: Hello): void
  closed(session: AcceptedSession, end: LinkEnd): void
  refused(session: AcceptedSession, code: string): void
}

/** The hub's end of a connection. It is an EdgeSession for others once `open` has welcomed the edge. */
export class AcceptedSession implements EdgeSession {
  readonly nodeName: string
  readonly closed: Promise<LinkEnd>
  openedAt = 0
  readonly #link: Link
  readonly #clock: Clock
  #hello: Hello | undefined
  #probe: Probe = { version: '', bootID: '' }
  #heartbeatMs = 0
  #beatAt = 0
  /** Frames that came in the hello's own packet, before anybody listened. */
  #early: Frame[] | undefined = []
  #frameListeners: ((frame: Frame) => void)[] = []
  #probeListeners: ((probe: Probe) => void)[] = []

  constructor(options: {
    ws: WebSocket
    nodeName: string
    events: SessionEvents
    clock: Clock
    log: Logger
  }) {
    const { ws, nodeName, events, clock, log } = options
    const over = Promise.withResolvers<LinkEnd>()
    this.nodeName = nodeName
    this.closed = over.promise
    this.#clock = clock
    this.#link = new Link({
      ws,
      speaker: 'cloud',
      nodeName,
      first: OPERATION.hello,
      clock,
      log,
      events: {
        frame: (frame) => this.#onFrame(frame, events),
        refused: (code) => events.refused(this, code),
        closed: (end) => {
          events.closed(this, end)
          over.resolve(end)
        },
      },
    })
  }

  get hello(): Hello {
    if (!this.#hello) throw new TypeError('a session has no hello before it is open')
    return this.#hello
  }

  get probe(): Probe {
    return this.#probe
  }

  get ended(): boolean {
    return this.#link.ended
  }

  send(operation: string, resource: string, content: unknown, options: { parentId?: string } = {}): boolean {
    return this.#link.send({ operation, content, ...(resource === '' ? {} : { resource }), ...options })
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#frameListeners.push(listener)
  }

  onProbe(listener: (probe: Probe) => void): void {
    this.#probeListeners.push(listener)
  }

  close(code: number, reason: string): void {
    this.#link.close(code, reason)
  }

  abort(code: number, reason: string): void {
    this.#link.abort(code, reason)
  }

  /** Welcomes the edge; its frames still wait for `listen`. */
  open(welcome: Welcome): void {
    this.openedAt = this.#clock.now()
    this.#heartbeatMs = welcome.heartbeatSeconds * 1000
    this.#beatAt = this.#clock.monotonic() + this.#heartbeatMs
    this.send(OPERATION.welcome, '', welcome)
  }

  /** Lets the edge's frames through to the listeners. */
  listen(): void {
    const early = this.#early ?? []
    this.#early = undefined
    for (const frame of early) this.#dispatch(frame)
    this.#link.resume()
  }

  /** Pings when it is time to; `now` is monotonic ms. */
  beatIfDue(now: number): void {
    if (now < this.#beatAt) return
    this.#beatAt = now + this.#heartbeatMs
    if (!this.#link.endIfSilent(this.#heartbeatMs)) this.#link.ping()
  }

  #onFrame(frame: Frame, events: SessionEvents): void {
    if (!this.#hello) {
      this.#hello = frame.content as Hello
      this.#probe = this.#hello.probe
      this.#link.pause()
      events.hello(this, this.#hello)
    } else if (this.#early) this.#early.push(frame)
    else this.#dispatch(frame)
  }

  #dispatch(frame: Frame): void {
    if (frame.operation === OPERATION.keepalive) return this.#onKeepalive(frame.content as Keepalive)
    for (const listener of this.#frameListeners) listener(frame)
  }

  #onKeepalive({ probe }: Keepalive): void {
    if (!probe || (probe.version === this.#probe.version && probe.bootID === this.#probe.bootID)) return
    this.#probe = probe
    for (const listener of this.#probeListeners) listener(probe)
  }
}
