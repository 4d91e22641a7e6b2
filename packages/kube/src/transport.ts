import type { Readable } from 'node:stream'
import {
  type Clock,
  type Counter,
  type Histogram,
  HubError,
  type Logger,
  type Metrics,
  messageOf,
} from '@upgrade-hub/core'
import type { Dispatcher } from 'undici'
import type { ClusterAccess } from './access.ts'
import { type CallKind, errorOfAnswer, errorOfBreak } from './answers.ts'
import { type Authentication, Authenticator } from './authentication.ts'
import { type Connections, closeConnections, destroyConnections, openConnections } from './connections.ts'
import { Deadline } from './deadline.ts'
import { KubeError } from './errors.ts'
import { DEFAULT_TRIES, retryDelayMs } from './retrying.ts'
import { ServerClock } from './server-clock.ts'

/** One request as it goes out. */
export interface Call {
  readonly kind: CallKind
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute, with its query. */
  readonly path: string
  readonly body?: string
  readonly contentType?: string
  readonly timeoutMs: number
  readonly maxTries?: number
  readonly signal?: AbortSignal
}

type Response = Dispatcher.ResponseData

/** Sends calls to one API server: connections, credentials, time limits, retries, and what failures mean. */
export class Transport {
  readonly serverClock: ServerClock
  readonly #access: ClusterAccess
  readonly #origin: string
  readonly #prefix: string
  readonly #authenticator: Authenticator
  readonly #clock: Clock
  readonly #log: Logger
  readonly #userAgent: string
  readonly #requests: Counter
  readonly #seconds: Histogram
  readonly #opened: Counter
  #connections: Connections | undefined
  /** Of former credentials: they close when what runs on them has ended. */
  readonly #retired = new Set<Connections>()

  constructor(options: {
    access: ClusterAccess
    clock: Clock
    log: Logger
    metrics: Metrics
    userAgent: string
  }) {
    const { access, clock, log, metrics } = options
    const url = new URL(access.server)
    this.#origin = url.origin
    this.#prefix = url.pathname.replace(/\/$/, '')
    this.#access = access
    this.#clock = clock
    this.#log = log
    this.#userAgent = options.userAgent
    this.serverClock = new ServerClock(clock)
    this.#authenticator = new Authenticator(access, clock, log)
    this.#requests = metrics.counter('upgradehub_kube_requests_total', 'Requests by method and result.', [
      'method',
      'code',
    ])
    this.#seconds = metrics.histogram('upgradehub_kube_request_seconds', 'Time of a request.', ['method'])
    this.#opened = metrics.counter('upgradehub_kube_connections_total', 'Connections that were opened.')
  }

  /**
   * The text that the call is answered with, after the retries that are safe.
   * @throws KubeError, CredentialError, or the reason of the call's signal
   */
  async call(call: Call): Promise<string> {
    const deadline = new Deadline(this.#clock, call.timeoutMs, call.signal)
    try {
      for (let tries = 1; ; tries++) {
        try {
          return await this.#try(call, deadline)
        } catch (error) {
          const wait = this.#retryDelay(call, { error, tries, deadline })
          if (wait === undefined) throw error
          await this.#clock.sleep(wait, call.signal)
        }
      }
    } finally {
      deadline.end()
    }
  }

  /**
   * Opens an answer without an end. The caller must read or destroy it. One try only, besides new credentials.
   * `call.timeoutMs` bounds the wait for the first byte of the answer.
   */
  async open(call: Call): Promise<Readable> {
    const deadline = new Deadline(this.#clock, call.timeoutMs, call.signal)
    try {
      const response = await this.#send(call, deadline, (connections) => connections.watches)
      if (response.statusCode !== 200) throw await this.#refusal(call, response)
      call.signal?.addEventListener('abort', () => response.body.destroy(), { once: true })
      return response.body
    } catch (error) {
      throw this.#told(call, deadline, error)
    } finally {
      deadline.end()
    }
  }

  /** Ends every connection; calls that run fail. */
  async close(): Promise<void> {
    const all = this.#connections ? [this.#connections, ...this.#retired] : [...this.#retired]
    this.#connections = undefined
    await Promise.all(all.map(destroyConnections))
  }

  async #try(call: Call, deadline: Deadline): Promise<string> {
    const startedAt = this.#clock.monotonic()
    let code = 'none'
    try {
      const response = await this.#send(call, deadline, (connections) => connections.calls)
      code = String(response.statusCode)
      if (response.statusCode >= 300) throw await this.#refusal(call, response)
      return await response.body.text()
    } catch (error) {
      throw this.#told(call, deadline, error)
    } finally {
      this.#requests.inc({ method: call.method, code })
      this.#seconds.observe((this.#clock.monotonic() - startedAt) / 1000, { method: call.method })
    }
  }

  /** A 401 means that nothing was done, so that any call may be sent again with other credentials, once. */
  async #send(
    call: Call,
    deadline: Deadline,
    pool: (connections: Connections) => Dispatcher,
  ): Promise<Response> {
    const authentication = await deadline.bound(this.#authenticator.current())
    const response = await this.#request(call, { authentication, deadline, pool })
    if (response.statusCode !== 401) return response
    const renewed = await deadline.bound(this.#authenticator.renewed(authentication))
    if (!renewed) return response
    await response.body.dump()
    return this.#request(call, { authentication: renewed, deadline, pool })
  }

  async #request(
    call: Call,
    by: {
      authentication: Authentication
      deadline: Deadline
      pool: (connections: Connections) => Dispatcher
    },
  ): Promise<Response> {
    const sentAt = this.#clock.monotonic()
    const pool = by.pool(this.#connectionsFor(by.authentication))
    const request = pool.request({
      origin: this.#origin,
      path: this.#prefix + call.path,
      method: call.method,
      headers: this.#headers(call, by.authentication),
      body: call.body ?? null,
      signal: by.deadline,
    })
    // undici does not end a request that still waits for a connection.
    const response = await by.deadline.bound(request)
    const { date } = response.headers
    if (typeof date === 'string') this.serverClock.observe(date, sentAt)
    return response
  }

  #headers(call: Call, authentication: Authentication): Record<string, string | string[]> {
    return {
      ...authentication.headers,
      accept: 'application/json',
      'user-agent': this.#userAgent,
      ...(call.contentType ? { 'content-type': call.contentType } : {}),
    }
  }

  /** New certificates need new connections; what runs on the old ones may end there. */
  #connectionsFor(authentication: Authentication): Connections {
    const old = this.#connections
    if (old?.tls === authentication.tls) return old
    this.#connections = openConnections(this.#access, authentication.tls, () => this.#opened.inc())
    if (old) void this.#retire(old)
    return this.#connections
  }

  async #retire(old: Connections): Promise<void> {
    this.#log.info({}, 'credentials changed, connections to the API server are made anew')
    this.#retired.add(old)
    try {
      await closeConnections(old)
    } catch (error) {
      this.#log.debug({ reason: messageOf(error) }, 'old connections did not close cleanly')
    } finally {
      this.#retired.delete(old)
    }
  }

  async #refusal(call: Call, response: Response): Promise<KubeError> {
    const text = await response.body.text()
    const retryAfter = response.headers['retry-after']
    return errorOfAnswer(
      { kind: call.kind, title: titleOf(call) },
      {
        status: response.statusCode,
        text,
        ...(typeof retryAfter === 'string' ? { retryAfter } : {}),
      },
    )
  }

  #told(call: Call, deadline: Deadline, error: unknown): unknown {
    if (error instanceof HubError) return error
    if (call.signal?.aborted && !deadline.expired) return call.signal.reason
    return errorOfBreak({ kind: call.kind, title: titleOf(call) }, deadline.expired ? deadline.reason : error)
  }

  #retryDelay(
    call: Call,
    failure: { error: unknown; tries: number; deadline: Deadline },
  ): number | undefined {
    if (!(failure.error instanceof KubeError) || failure.deadline.isOver) return undefined
    const remainingMs = failure.deadline.remainingMs()
    const maxTries = call.maxTries ?? DEFAULT_TRIES
    return retryDelayMs({ kind: call.kind, tries: failure.tries, maxTries, remainingMs }, failure.error)
  }
}

/** A call as messages name it: without its query, which says little and may be long. */
export function titleOf(call: Call): string {
  return `${call.method} ${call.path.split('?', 1)[0]}`
}
