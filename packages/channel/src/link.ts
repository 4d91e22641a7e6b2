import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import {
  CLOSE,
  decodeFrame,
  encodeFrame,
  type Frame,
  type FrameDraft,
  LIMITS,
  OPERATION,
  ProtocolError,
  type Speaker,
  UnsupportedOperation,
  validate,
} from '@upgrade-hub/protocol'
import type { WebSocket } from 'ws'
import { speaksForOther } from './claims.ts'
import { TokenBucket } from './token-bucket.ts'

/** How a connection ended: the code of whoever closed it first, 1006 when it broke. */
export interface LinkEnd {
  readonly code: number
  readonly reason: string
}

/** What a link tells its owner. `refused` counts by a code of a closed set, never with content. */
export interface LinkEvents {
  frame(frame: Frame): void
  closed(end: LinkEnd): void
  refused(code: string): void
}

export interface LinkOptions {
  readonly ws: WebSocket
  readonly speaker: Speaker
  readonly nodeName: string
  /** The operation that must come first, once: `hello` for the hub, `welcome` for the edge. */
  readonly first: string
  readonly events: LinkEvents
  readonly clock: Clock
  readonly log: Logger
}

/** Options of every `ws` socket here: no compression, small messages, and pings that are counted before they are answered. */
export const SOCKET_OPTIONS = {
  maxPayload: LIMITS.maxFrameBytes,
  maxFragments: 1024,
  maxBufferedChunks: 4096,
  perMessageDeflate: false,
  autoPong: false,
  closeTimeout: 5_000,
} as const

/** Frames with unusable content that are answered before the peer is given up. */
const MAX_INVALID_FRAMES = 10
/** RFC 6455, 5.5.1: a control frame has 125 bytes, two of them are the code. */
const MAX_REASON_CHARS = 120

/**
 * One WebSocket as either end sees it: frames in and out under the caps of protocol.md, and the silence of the peer.
 * What is no envelope closes the connection with a code; an envelope with unusable content is answered `error`, and a
 * peer that goes on is closed too.
 */
export class Link {
  readonly #ws: WebSocket
  readonly #options: LinkOptions
  readonly #bucket: TokenBucket
  #heardAt: number
  #started = false
  #invalid = 0
  #end: LinkEnd | undefined

  constructor(options: LinkOptions) {
    const { ws, clock } = options
    this.#ws = ws
    this.#options = options
    this.#heardAt = clock.monotonic()
    this.#bucket = new TokenBucket(LIMITS.messagesPerSecond, LIMITS.messageBurst, this.#heardAt)
    ws.on('message', (data, isBinary) => this.#onMessage(data as Buffer, isBinary))
    ws.on('ping', (data) => this.#heard() && this.#pong(data))
    ws.on('pong', () => this.#heard())
    ws.on('error', (error) => options.log.debug({ error: messageOf(error) }, 'socket error'))
    ws.on('close', (code, reason) => this.#onClose(code, reason))
  }

  get ended(): boolean {
    return this.#end !== undefined
  }

  /**
   * False when the connection is closed or closing, or just got closed because the peer does not read.
   * @throws ProtocolError PROTOCOL_TOO_BIG
   */
  send(draft: FrameDraft): boolean {
    return this.write(encodeFrame(draft, this.#options.speaker, this.#options.clock.now()))
  }

  /** Sends a text that `encodeFrame` made. */
  write(text: string): boolean {
    if (this.#end || this.#ws.readyState !== this.#ws.OPEN) return false
    if (this.#ws.bufferedAmount + text.length > LIMITS.maxQueuedBytes) {
      this.abort(CLOSE.tooSlow, 'TooSlow')
      return false
    }
    this.#ws.send(text)
    return true
  }

  /** Ends in order: what was sent before still arrives. The first call decides the code. */
  close(code: number, reason: string): void {
    this.#end ??= { code, reason }
    this.#ws.close(code, reason.slice(0, MAX_REASON_CHARS))
    // A paused socket would never see the peer's close frame.
    this.#ws.resume()
  }

  /** Ends at once, for a peer that would not read a close frame either. */
  abort(code: number, reason: string): void {
    this.#end ??= { code, reason }
    this.#ws.terminate()
  }

  /** True when the peer was silent for three heartbeats; the connection then has ended. */
  endIfSilent(heartbeatMs: number): boolean {
    const silentMs = this.#options.clock.monotonic() - this.#heardAt
    if (silentMs < heartbeatMs * LIMITS.missedHeartbeats) return false
    this.abort(CLOSE.heartbeatLost, 'HeartbeatLost')
    return true
  }

  ping(): void {
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping()
  }

  /** Leaves what the peer sends in the kernel's buffer. */
  pause(): void {
    this.#ws.pause()
  }

  resume(): void {
    this.#ws.resume()
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (!this.#heard()) return
    if (isBinary) return this.#refuse(this.#started ? 'TEXT_ONLY' : 'UNSUPPORTED_PEER')
    const frame = this.#decode(data.toString())
    if (!frame) return
    if ((frame.operation === this.#options.first) === this.#started) return this.#refuse('UNSUPPORTED_PEER')
    this.#started = true
    if (speaksForOther(frame, this.#options.nodeName)) return this.#refuse('IdentityConflict')
    this.#deliver(frame)
  }

  #decode(text: string): Frame | undefined {
    try {
      return decodeFrame(text)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#onProtocolError(error, text)
      return undefined
    }
  }

  /** A fault in a listener must not end every session of the process. */
  #deliver(frame: Frame): void {
    try {
      this.#options.events.frame(frame)
    } catch (error) {
      this.#options.log.error({ err: error, operation: frame.operation }, 'a frame could not be worked on')
    }
  }

  #onProtocolError(error: ProtocolError, text: string): void {
    if (!this.#started) return this.#refuse('UNSUPPORTED_PEER')
    if (error instanceof UnsupportedOperation) {
      this.#options.events.refused(error.code)
      return this.#answer('UNSUPPORTED', error.message, error.msgId)
    }
    const msgId = envelopeId(text)
    this.#invalid += 1
    if (msgId === undefined || this.#invalid > MAX_INVALID_FRAMES) return this.#refuse(error.code)
    this.#options.events.refused(error.code)
    this.#answer(error.code, error.message, msgId)
  }

  #answer(code: string, message: string, parentId: string): void {
    this.send({ operation: OPERATION.error, content: { code, message: message.slice(0, 1024) }, parentId })
  }

  #refuse(code: string): void {
    this.#options.events.refused(code)
    this.close(code === 'UNSUPPORTED_PEER' ? CLOSE.unsupportedPeer : CLOSE.policy, code)
  }

  /** Counts everything a peer sends against one rate; false when nothing more of it is looked at. */
  #heard(): boolean {
    if (this.#end) return false
    this.#heardAt = this.#options.clock.monotonic()
    if (this.#bucket.take(this.#heardAt)) return true
    this.#options.events.refused('TooFast')
    this.close(CLOSE.tooFast, 'TooFast')
    return false
  }

  #pong(data: Buffer): void {
    if (this.#ws.bufferedAmount > LIMITS.maxQueuedBytes) this.abort(CLOSE.tooSlow, 'TooSlow')
    else this.#ws.pong(data)
  }

  #onClose(code: number, reason: Buffer): void {
    this.#end ??= { code, reason: reason.toString() }
    this.#options.events.closed(this.#end)
  }
}

function envelopeId(text: string): string | undefined {
  try {
    return validate('Envelope', JSON.parse(text)).header.msg_id
  } catch {
    return undefined
  }
}
