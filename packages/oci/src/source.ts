import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Clock } from '@upgrade-hub/core'
import { type Dispatcher, request } from 'undici'
import { parseChallenge } from './challenge.ts'
import { OciError } from './errors.ts'
import { httpFailure, networkFailure } from './failures.ts'
import { RateGuard } from './rate-guard.ts'
import type { PullLimits, RegistrySettings } from './settings.ts'
import type { Source } from './sources.ts'
import { basicHeaders, fetchToken } from './token.ts'
import { checkAddress } from './transport.ts'

/** What the requests of one pull have in common. */
export interface Session {
  readonly settings: RegistrySettings
  readonly limits: PullLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly transport: Dispatcher
}

/** A good answer; its body has not been read and must be. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Ends with an error when it is too slow; what is left unread is dropped with its connection. */
  readonly body: AsyncIterable<Buffer>
  /** Instead of reading it. */
  discard(): void
}

const MAX_DUMP_BYTES = 64 * 1024
const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** One repository at one registry or mirror, with the login that it asks for. Answers are for one reader at a time. */
export class SourceClient {
  readonly #source: Source
  readonly #session: Session
  readonly #isLoggedIn: boolean
  #login: Readonly<Record<string, string>>

  /** `login` is the header of one who needs no challenge, and who takes none up. */
  constructor(source: Source, session: Session, login?: Readonly<Record<string, string>>) {
    this.#source = source
    this.#session = session
    this.#isLoggedIn = login !== undefined
    this.#login = login ?? {}
  }

  /** Asks for a path below the repository. Only 200 and, for a range, 206 and 416 come back. @throws OciError */
  async get(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
    let url = new URL(path, this.#source.base)
    let loggedIn = this.#isLoggedIn
    for (let hops = 0; hops <= this.#session.limits.maxRedirects; ) {
      // A redirect leads to somebody else's storage: it never sees the login.
      const isOurs = url.origin === this.#source.base.origin
      const answer = await this.#send(url, isOurs ? { ...headers, ...this.#login } : headers)
      const { statusCode, body } = answer
      if (statusCode === 200 || ('range' in headers && (statusCode === 206 || statusCode === 416)))
        return answerOf(answer, this.#guarded(body))
      await body.dump({ limit: MAX_DUMP_BYTES }).catch(() => undefined)
      if (REDIRECTS.has(statusCode)) {
        url = followRedirect(url, firstOf(answer.headers['location']))
        hops++
      } else if (statusCode === 401 && isOurs && !loggedIn) {
        loggedIn = true
        this.#login = await this.#logIn(answer.headers['www-authenticate'])
      } else {
        const what = isOurs ? `${url.host}${url.pathname}` : `${url.host}, ${path}`
        throw httpFailure(statusCode, what, answer.headers, this.#session.clock.now())
      }
    }
    throw new OciError('OCI_REDIRECT_REFUSED', `${this.#source.host} redirects without end`)
  }

  async #send(url: URL, headers: Readonly<Record<string, string>>) {
    const { settings, transport, signal } = this.#session
    checkAddress(url, settings)
    try {
      const answer = await request(url, { dispatcher: transport, headers, signal })
      // Whoever reads the body hears of it; until then nobody does.
      answer.body.on('error', () => undefined)
      return answer
    } catch (error) {
      throw networkFailure(error)
    }
  }

  /** The header for all further requests. */
  async #logIn(header: string | string[] | undefined): Promise<Record<string, string>> {
    const challenge = parseChallenge(header)
    const credential = this.#session.settings.credentials?.get(this.#source.host)
    if (challenge?.kind === 'bearer') {
      const token = await fetchToken({ ...this.#session, challenge, registry: this.#source.base, credential })
      return { authorization: `Bearer ${token}` }
    }
    if (challenge && credential?.kind === 'password') return basicHeaders(credential)
    const message = `${this.#source.host} wants a login and registry.credentialsFile has none for it`
    throw new OciError('OCI_CREDENTIALS_REFUSED', message)
  }

  async *#guarded(body: Readable): AsyncGenerator<Buffer> {
    const { clock, limits } = this.#session
    const guard = new RateGuard(clock, limits, (error) => body.destroy(error))
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        guard.count(chunk.length)
        yield chunk
      }
    } finally {
      guard.end()
      body.destroy()
    }
  }
}

function answerOf(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  read: AsyncIterable<Buffer>,
): Answer {
  return { status: statusCode, headers, body: read, discard: () => void body.destroy() }
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/** Never from HTTPS to less, and never with a password: nobody needs that, and it would be sent on. */
function followRedirect(from: URL, location: string | undefined): URL {
  const to = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (!to || !/^https?:$/.test(to.protocol)) throw refused(from, 'to no address')
  if (from.protocol === 'https:' && to.protocol !== 'https:') throw refused(from, 'away from HTTPS')
  if (to.username !== '' || to.password !== '') throw refused(from, 'with a password in it')
  return to
}

function refused(from: URL, where: string): OciError {
  return new OciError('OCI_REDIRECT_REFUSED', `${from.host} redirects ${where}`)
}
