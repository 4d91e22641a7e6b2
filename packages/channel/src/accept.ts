import type { X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Server } from 'node:https'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import {
  type Clock,
  type Counter,
  type Gauge,
  type Logger,
  type Metrics,
  messageOf,
  type Timer,
} from '@upgrade-hub/core'
import { CLOSE, type Hello, LIMITS, OPERATION, type Welcome } from '@upgrade-hub/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { ConnectRate } from './connect-rate.ts'
import { AcceptedSession, type EdgeSession, type SessionEvents } from './edge-session.ts'
import { claimedNode, identityConflict, type Refusal, refuseHandshake } from './handshake.ts'
import { type LinkEnd, SOCKET_OPTIONS } from './link.ts'
import { SessionTable } from './session-table.ts'

export interface AcceptOptions {
  /** Made with SESSION_SERVER_OPTIONS. */
  readonly server: Server
  /** Who the verified certificate speaks for; the URL, the header and every frame are then held to it. */
  authorize(request: IncomingMessage, certificate: X509Certificate): Promise<{ nodeName: string } | Refusal>
  /** The answer to a hello, or the code that closes it. Frames of the edge wait meanwhile. */
  welcome(nodeName: string, hello: Hello): Promise<Welcome | { closeCode: number; reason: string }>
  /** Called right after the welcome was sent and before the next frame of the edge is delivered. */
  onSession(session: EdgeSession): void
  /** A certificate that claimed another node's name, or two machines that share one. */
  onConflict?(nodeName: string, kind: 'IdentityConflict' | 'FlipFlop'): void
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

export interface SessionGate {
  /** The open session of each node; the newest one wins. */
  readonly sessions: ReadonlyMap<string, EdgeSession>
  /** Takes no more, says `goAway` to all and resolves once all are closed, after 6 s at most. */
  close(retryAfterSeconds: number): Promise<void>
}

const SWEEP_MS = 1_000
const GO_AWAY_GRACE_MS = 6_000

/**
 * Takes the sessions of edges from the `upgrade` events of an HTTPS server. One loop looks after the timers of all
 * sessions, so that an idle one costs memory only.
 */
export function acceptSessions(options: AcceptOptions): SessionGate {
  return new Gate(options)
}

class Gate implements SessionGate {
  readonly #options: AcceptOptions
  readonly #table: SessionTable
  readonly #connects: ConnectRate
  readonly #counts: ReturnType<typeof countersOf>
  readonly #wss = new WebSocketServer({ ...SOCKET_OPTIONS, noServer: true, clientTracking: false })
  /** What has not been welcomed yet, by how to end it, with its deadline in monotonic ms. */
  readonly #greeting = new Map<TLSSocket | AcceptedSession, number>()
  #sweeper: Timer
  #closing = false

  constructor(options: AcceptOptions) {
    this.#options = options
    this.#table = new SessionTable(options.clock, (nodeName) => this.#conflict(nodeName, 'FlipFlop'))
    this.#connects = new ConnectRate(options.clock)
    this.#counts = countersOf(options.metrics)
    this.#sweeper = options.clock.after(SWEEP_MS, this.#sweep)
    options.server.on('upgrade', this.#onUpgrade)
    if (options.server.listenerCount('request') === 0) options.server.on('request', answerUpgradeRequired)
  }

  get sessions(): ReadonlyMap<string, EdgeSession> {
    return this.#table.byNode
  }

  async close(retryAfterSeconds: number): Promise<void> {
    this.#closing = true
    const open = [...this.#table.byNode.values()]
    for (const session of open) {
      session.send(OPERATION.goAway, '', { retryAfterSeconds })
      session.close(CLOSE.goingAway, 'GoAway')
    }
    for (const early of this.#greeting.keys()) drop(early, CLOSE.goingAway, 'GoAway')
    const grace = this.#options.clock.after(GO_AWAY_GRACE_MS, () => {
      for (const session of open) session.abort(CLOSE.goingAway, 'GoAway')
    })
    await Promise.all(open.map((session) => session.closed))
    grace.cancel()
    this.#sweeper.cancel()
    this.#options.server.off('upgrade', this.#onUpgrade)
  }

  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (!(socket instanceof TLSSocket)) return void socket.destroy()
    socket.on('error', (error) => this.#options.log.debug({ error: messageOf(error) }, 'handshake broke'))
    socket.once('close', () => this.#greeting.delete(socket))
    this.#greeting.set(socket, this.#options.clock.monotonic() + LIMITS.handshakeTimeoutMs)
    this.#admit(request, socket).then(
      (admitted) =>
        'status' in admitted
          ? this.#refuse(socket, admitted)
          : this.#upgrade(request, head, admitted.nodeName),
      (error: unknown) => {
        this.#options.log.error({ err: error }, 'a handshake could not be judged')
        this.#refuse(socket, {
          status: 503,
          code: 'UNAVAILABLE',
          message: 'try again later',
          retryAfterSeconds: 10,
        })
      },
    )
  }

  async #admit(request: IncomingMessage, socket: TLSSocket): Promise<{ nodeName: string } | Refusal> {
    if (this.#closing)
      return { status: 503, code: 'STOPPING', message: 'this hub stops', retryAfterSeconds: 1 }
    const claim = claimedNode(request)
    if ('status' in claim && claim.code !== 'IdentityConflict') return claim
    const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
    if (!certificate)
      return { status: 401, code: 'NO_CERTIFICATE', message: 'a certificate of this hub is needed' }
    const admitted = await this.#options.authorize(request, certificate)
    if ('status' in admitted) return admitted
    if (!('nodeName' in claim) || claim.nodeName !== admitted.nodeName) {
      this.#conflict(admitted.nodeName, 'IdentityConflict')
      return identityConflict()
    }
    if (this.#connects.allows(admitted.nodeName)) return admitted
    return {
      status: 429,
      code: 'TOO_MANY_CONNECTS',
      message: 'this node connects too often',
      retryAfterSeconds: 5,
    }
  }

  #refuse(socket: TLSSocket, refusal: Refusal): void {
    this.#counts.refusedHandshakes.inc({ code: refusal.code })
    if (!socket.destroyed) refuseHandshake(socket, refusal)
  }

  #upgrade(request: IncomingMessage, head: Buffer, nodeName: string): void {
    const { socket } = request
    if (socket.destroyed || !(socket instanceof TLSSocket)) return
    const deadline = this.#greeting.get(socket) ?? 0
    this.#wss.handleUpgrade(request, socket, head, (ws: WebSocket) => {
      const { clock, log } = this.#options
      const session = new AcceptedSession({ ws, nodeName, events: this.#events, clock, log })
      this.#greeting.delete(socket)
      this.#greeting.set(session, deadline)
    })
  }

  readonly #events: SessionEvents = {
    hello: (session, hello) => {
      this.#welcome(session, hello).catch((error: unknown) => {
        this.#options.log.error({ err: error, node: session.nodeName }, 'a session could not be opened')
        session.close(CLOSE.goingAway, 'Unavailable')
      })
    },
    closed: (session, end) => this.#onClosed(session, end),
    refused: (session, code) => {
      this.#counts.refusedFrames.inc({ code })
      if (code === 'IdentityConflict') this.#conflict(session.nodeName, code)
    },
  }

  async #welcome(session: AcceptedSession, hello: Hello): Promise<void> {
    const answer = await this.#options.welcome(session.nodeName, hello)
    if (session.ended || this.#closing) return session.close(CLOSE.goingAway, 'GoAway')
    this.#greeting.delete(session)
    if ('closeCode' in answer) return session.close(answer.closeCode, answer.reason)
    this.#table.add(session)
    this.#counts.open.set(this.#table.byNode.size)
    session.open(answer)
    this.#options.onSession(session)
    session.listen()
  }

  #onClosed(session: AcceptedSession, end: LinkEnd): void {
    this.#greeting.delete(session)
    this.#table.remove(session)
    this.#counts.open.set(this.#table.byNode.size)
    this.#counts.closed.inc({ code: String(end.code) })
  }

  #conflict(nodeName: string, kind: 'IdentityConflict' | 'FlipFlop'): void {
    this.#options.log.warn({ node: nodeName, kind }, 'two machines, or a wrong certificate, for one node')
    this.#options.onConflict?.(nodeName, kind)
  }

  readonly #sweep = (): void => {
    const now = this.#options.clock.monotonic()
    for (const [early, deadline] of this.#greeting) {
      if (now >= deadline) drop(early, CLOSE.unsupportedPeer, 'HelloTimeout')
    }
    for (const session of this.#table.byNode.values()) session.beatIfDue(now)
    this.#connects.sweep()
    this.#table.sweep()
    this.#sweeper = this.#options.clock.after(SWEEP_MS, this.#sweep)
  }
}

function drop(early: TLSSocket | AcceptedSession, code: number, reason: string): void {
  if (early instanceof AcceptedSession) early.abort(code, reason)
  else early.destroy()
}

function answerUpgradeRequired(
  _: IncomingMessage,
  response: { writeHead(status: number): { end(): void } },
): void {
  response.writeHead(426).end()
}

function countersOf(metrics: Metrics): {
  open: Gauge
  closed: Counter
  refusedFrames: Counter
  refusedHandshakes: Counter
} {
  return {
    open: metrics.gauge('upgradehub_sessions', 'Open sessions of edges.'),
    closed: metrics.counter('upgradehub_sessions_closed_total', 'Sessions that ended, by close code.', [
      'code',
    ]),
    refusedFrames: metrics.counter('upgradehub_frames_refused_total', 'Frames that were not taken.', [
      'code',
    ]),
    refusedHandshakes: metrics.counter(
      'upgradehub_handshakes_refused_total',
      'Handshakes that were refused.',
      ['code'],
    ),
  }
}
