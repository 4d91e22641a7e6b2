import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import { CLOSE, type Frame, type Hello, type Probe, type Welcome } from '@upgrade-hub/protocol'
import { ChannelError } from './errors.ts'
import { HeldSession } from './held-session.ts'
import { type EdgeTls, openSocket } from './open-socket.ts'
import { planReconnect, type TryEnd } from './reconnect.ts'

export type DialState =
  | { readonly state: 'connecting'; readonly attempt: number }
  | { readonly state: 'open' }
  | { readonly state: 'waiting'; readonly ms: number; readonly code: number; readonly reason: string }

export interface DialOptions {
  /** `wss://host:port`, without a path. */
  readonly url: string
  readonly nodeName: string
  /** Asked for every try, so that a renewed certificate is used at once. */
  tls(): Promise<EdgeTls>
  /** Asked for every try. */
  hello(): Promise<Hello>
  onWelcome(welcome: Welcome): void
  /** Every frame of the hub but welcome and goAway, checked against its schema and our name, in order. */
  onFrame(frame: Frame): void
  /** Sent with every keepalive; undefined when there is none yet. */
  probe(): Probe | undefined
  onStateChange?(state: DialState): void
  readonly clock: Clock
  readonly log: Logger
  /** Ends the session in order and `run`. */
  readonly signal: AbortSignal
  /** 0 to 1, for the jitter. */
  readonly random?: () => number
}

export interface EdgeDialer {
  /** False when there is no session, or too much waits: keep the message. True is no proof of arrival. */
  send(operation: string, resource: string, content: unknown, options?: { parentId?: string }): boolean
  readonly connected: boolean
  /** Holds a session, opens the next one when it ends, and returns when the signal aborts. */
  run(): Promise<void>
  /** Says at once that the probe changed. */
  keepalive(): void
}

/** The edge's end: it dials out, and comes back for ever. */
export function dial(options: DialOptions): EdgeDialer {
  return new Dialer(options)
}

class Dialer implements EdgeDialer {
  readonly #options: DialOptions
  readonly #random: () => number
  #session: HeldSession | undefined

  constructor(options: DialOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
  }

  get connected(): boolean {
    return this.#session?.isOpen ?? false
  }

  send(operation: string, resource: string, content: unknown, options: { parentId?: string } = {}): boolean {
    if (!this.#session) return false
    return this.#session.send({ operation, content, ...(resource === '' ? {} : { resource }), ...options })
  }

  keepalive(): void {
    this.#session?.keepalive()
  }

  async run(): Promise<void> {
    const { clock, log, signal } = this.#options
    let attempt = 0
    while (!signal.aborted) {
      this.#options.onStateChange?.({ state: 'connecting', attempt })
      const end = await this.#try()
      if (signal.aborted) return
      const plan = planReconnect(end, attempt, this.#random)
      attempt = plan.attempt
      log.info({ code: end.code, reason: end.reason, waitMs: plan.waitMs }, 'no session with the hub')
      this.#options.onStateChange?.({ state: 'waiting', ms: plan.waitMs, code: end.code, reason: end.reason })
      await clock.sleep(plan.waitMs, signal).catch(() => undefined)
    }
  }

  async #try(): Promise<TryEnd> {
    const { url, nodeName, clock, signal } = this.#options
    try {
      // The hello is made while the socket opens: it may have to wait for the agent.
      const hello = this.#options.hello()
      hello.catch(() => undefined)
      const tls = await this.#options.tls()
      const session = await openSocket({ url, nodeName, tls, clock, signal }, (ws) => {
        return new HeldSession({ ws, hello, options: this.#options, random: this.#random })
      })
      this.#session = session
      return await session.ended
    } catch (error) {
      return failedTry(error)
    } finally {
      this.#session = undefined
    }
  }
}

function failedTry(error: unknown): TryEnd {
  const details = error instanceof ChannelError ? error.details : undefined
  const retryAfterMs = details?.['retryAfterMs']
  return {
    code: details?.['status'] === 403 ? CLOSE.policy : 1006,
    reason: messageOf(error),
    openMs: 0,
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  }
}
