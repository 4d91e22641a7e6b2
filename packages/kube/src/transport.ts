import type { Readable } from 'node:stream'
import {
  type Clock,
  type Counter,
  type Histogram,
  HubError,
  type Logger,
  type Metrics,
} from '@upgrade-hub/core'
import type { Dispatcher } from 'undici'
import type { ClusterAccess } from './access.ts'
import { type CallKind, type CallName, errorOfAnswer, errorOfBreak } from './answers.ts'
import { type Authentication, Authenticator } from './authentication.ts'
import { Connector } from './connections.ts'
import { Deadline } from './deadline.ts'
import { KubeError } from './errors.ts'
import { type Answer, exchange } from './exchange.ts'
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

const MAX_REFUSAL_BYTES = 64 * 1024

/** Sends calls to one API server: connections, credentials, time limits, retries, and what failures mean. */
export class Transport {
  readonly serverClock: ServerClock
  readonly #origin: string
  readonly #prefix: string
  readonly #authenticator: Authenticator
  readonly #clock: Clock
  readonly #userAgent: string
  readonly #requests: Counter
  readonly #seconds: Histogram
  readonly #connector: Connector

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
    this.#clock = clock
    this.#userAgent = options.userAgent
    this.serverClock = new ServerClock(clock)
    this.#authenticator = new Authenticator(access, clock, log)
    this.#requests = metrics.counter('upgradehub_kube_requests_total', 'Requests by method and result.', [
      'method',
      'code',
    ])
    this.#seconds = metrics.histogram('upgradehub_kube_request_seconds', 'Time of a request.', ['method'])
    const opened = metrics.counter('upgradehub_kube_connections_total', 'Connections that were opened.')
    this.#connector = new Connector(access, log, () => opened.inc())
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
   * Opens an answer without an end. The caller must read or destroy it; the call's signal breaks it. One try only, besides
   * new credentials. `call.timeoutMs` bounds the wait for the first byte of the answer.
   */
  async open(call: Call & { readonly signal: AbortSignal }): Promise<Readable> {
    const deadline = new Deadline(this.#clock, call.timeoutMs, call.signal)
    const broken = new AbortController()
    try {
      const { status, body, text } = await this.#authenticated(deadline, async (authentication) => {
        deadline.onOver((reason) => broken.abort(reason))
        const { watches } = this.#connector.for(authentication.tls)
        const request = { ...this.#request(call, authentication), signal: broken.signal }
        const { statusCode: status, body } = await watches.request(request)
        return { status, body, text: status === 200 ? '' : await headOf(body) }
      })
      if (status !== 200) throw errorOfAnswer(nameOf(call), { status, text })
      call.signal.addEventListener('abort', () => broken.abort(call.signal.reason), { once: true })
      return body
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason
      throw error instanceof HubError ? error : errorOfBreak(nameOf(call), error, true)
    } finally {
      deadline.end()
    }
  }

  /** Ends every connection; calls that run fail. */
  close(): Promise<void> {
    return this.#connector.close()
  }

  async #try(call: Call, deadline: Deadline): Promise<string> {
    const startedAt = this.#clock.monotonic()
    let code = 'none'
    try {
      const answer = await this.#authenticated(deadline, (by) => this.#exchange(call, by, deadline))
      code = String(answer.status)
      if (answer.status >= 300) throw errorOfAnswer(nameOf(call), answer)
      return answer.text
    } catch (error) {
      if (call.signal?.aborted && !deadline.expired) throw call.signal.reason
      throw error instanceof HubError ? error : errorOfBreak(nameOf(call), error, false)
    } finally {
      this.#requests.inc({ method: call.method, code })
      this.#seconds.observe((this.#clock.monotonic() - startedAt) / 1000, { method: call.method })
    }
  }

  async #exchange(call: Call, authentication: Authentication, deadline: Deadline): Promise<Answer> {
    const sentAt = this.#clock.monotonic()
    const { calls } = this.#connector.for(authentication.tls)
    const answer = await exchange(calls, this.#request(call, authentication), {
      name: nameOf(call),
      deadline,
    })
    if (answer.date) this.serverClock.observe(answer.date, sentAt)
    return answer
  }

  /** A 401 means that nothing was done, so that any call may be sent again with other credentials, once. */
  async #authenticated<T extends { status: number }>(
    deadline: Deadline,
    send: (authentication: Authentication) => Promise<T>,
  ): Promise<T> {
    const authentication = await deadline.bound(this.#authenticator.current())
    const first = await send(authentication)
    if (first.status !== 401) return first
    const renewed = await deadline.bound(this.#authenticator.renewed(authentication))
    return renewed ? send(renewed) : first
  }

  #request(call: Call, authentication: Authentication): Dispatcher.DispatchOptions {
    return {
      origin: this.#origin,
      path: this.#prefix + call.path,
      method: call.method,
      headers: this.#headers(call, authentication),
      body: call.body ?? null,
    }
  }

  #headers(call: Call, authentication: Authentication): Record<string, string | string[]> {
    return {
      ...authentication.headers,
      accept: 'application/json',
      'user-agent': this.#userAgent,
      ...(call.contentType ? { 'content-type': call.contentType } : {}),
    }
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
export function nameOf({ kind, method, path }: Call): CallName {
  return { kind, title: `${method} ${path.split('?', 1)[0]}` }
}

/** The beginning of an answer that only says why not. */
async function headOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > MAX_REFUSAL_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
