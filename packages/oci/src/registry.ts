import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { backoffSleep, type Clock, messageOf } from '@upgrade-hub/core'
import { Agent, request } from 'undici'
import { anonymousToken } from './anonymous-token.ts'
import { OciError } from './errors.ts'
import { ACCEPT_MANIFESTS, type Descriptor } from './manifest.ts'
import { RateGuard } from './rate-guard.ts'
import { followRedirect } from './redirect.ts'
import { type PullLimits, type RegistrySettings, registryUrl, repositoryPath } from './settings.ts'

const RETRY = { baseMs: 500, maxMs: 10_000 }
const MAX_RETRY_AFTER_MS = 60_000

export interface RegistryOptions {
  readonly registry: string
  readonly repository: string
  readonly settings: RegistrySettings
  readonly limits: PullLimits
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** An answer whose body has not been read. */
interface Answer {
  readonly contentType: string
  readonly body: Readable
}

/** One repository of one registry, asked anonymously by the OCI distribution API. */
export class Registry {
  readonly #options: RegistryOptions
  readonly #base: URL
  readonly #agent: Agent
  #token: string | undefined

  constructor(options: RegistryOptions) {
    const { settings, limits, registry, repository } = options
    this.#options = options
    this.#base = new URL(`v2/${repositoryPath(registry, repository)}/`, registryUrl(registry, settings))
    this.#agent = new Agent({
      headersTimeout: limits.headersTimeoutMs,
      bodyTimeout: limits.rateWindowMs,
      connect: { timeout: limits.headersTimeoutMs, ...(settings.ca ? { ca: settings.ca } : {}) },
    })
  }

  /** A manifest by tag or digest with the digest of what came. @throws OciError DigestMismatch for another than asked */
  async manifest(reference: string): Promise<{ text: string; digest: string; contentType: string }> {
    const { maxManifestBytes } = this.#options.limits
    return this.#tryHard(async () => {
      const { body, contentType } = await this.#get(`manifests/${reference}`, ACCEPT_MANIFESTS)
      const bytes = await this.#collect(body, maxManifestBytes)
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
      if (reference.startsWith('sha256:') && digest !== reference) throw mismatch(reference, digest)
      return { text: bytes.toString('utf8'), digest, contentType }
    })
  }

  /** A small blob, verified. */
  async smallBlob({ digest, size }: Descriptor): Promise<string> {
    const { maxManifestBytes } = this.#options.limits
    if (size > maxManifestBytes) throw new OciError('BadArchive', `a config of ${size} bytes`)
    return this.#tryHard(async () => {
      const { body } = await this.#get(`blobs/${digest}`, '*/*')
      const bytes = await this.#collect(body, size)
      const found = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
      if (found !== digest) throw mismatch(digest, found)
      return bytes.toString('utf8')
    })
  }

  /** Streams a blob into `consume`, again from its start when the connection fails on the way. */
  blob<T>({ digest }: Descriptor, consume: (body: AsyncIterable<Buffer>) => Promise<T>): Promise<T> {
    return this.#tryHard(async () => {
      const { body } = await this.#get(`blobs/${digest}`, '*/*')
      return consume(this.#guarded(body))
    })
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  async #collect(body: Readable, cap: number): Promise<Buffer> {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of this.#guarded(body)) {
      size += chunk.length
      if (size > cap) throw new OciError('BadArchive', `the registry sent more than ${cap} bytes`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }

  /** The body, ended when it is too slow. What is left unread is dropped with its connection. */
  async *#guarded(body: Readable): AsyncGenerator<Buffer> {
    const guard = new RateGuard(this.#options.clock, this.#options.limits, (error) => body.destroy(error))
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

  async #get(path: string, accept: string): Promise<Answer> {
    let url = new URL(path, this.#base)
    for (let hops = 0; hops <= this.#options.limits.maxRedirects; hops++) {
      const ours = url.origin === this.#base.origin
      // A redirect leads to somebody else's storage: it never sees the token.
      const token = ours && this.#token !== undefined ? { authorization: `Bearer ${this.#token}` } : {}
      const { signal } = this.#options
      const { statusCode, headers, body } = await request(url, {
        dispatcher: this.#agent,
        headers: { accept, ...token },
        signal,
      })
      body.on('error', () => undefined)
      if (statusCode === 200) return { contentType: textOf(headers['content-type']) ?? '', body }
      await body.dump({ limit: 64 * 1024 }).catch(() => undefined)
      if (statusCode >= 301 && statusCode <= 308 && statusCode !== 304) {
        url = followRedirect(url, textOf(headers['location']))
      } else if (statusCode === 401 && ours && this.#token === undefined) {
        this.#token = await this.#newToken(textOf(headers['www-authenticate']))
      } else {
        throw refused(statusCode, path, textOf(headers['retry-after']))
      }
    }
    throw new OciError('PullFailed', 'the registry redirects without end')
  }

  #newToken(challenge: string | undefined): Promise<string> {
    const { settings, signal } = this.#options
    return anonymousToken({ challenge, registry: this.#base, settings, agent: this.#agent, signal })
  }

  async #tryHard<T>(attempt: () => Promise<T>): Promise<T> {
    const { limits, clock, signal } = this.#options
    for (let tries = 0; ; tries++) {
      try {
        return await attempt()
      } catch (error) {
        signal.throwIfAborted()
        const failure = asPullError(error)
        if (failure.retry === 'never' || tries >= limits.retries) throw failure
        if (failure.retryAfterMs !== undefined) await clock.sleep(failure.retryAfterMs, signal)
        await backoffSleep(clock, RETRY, tries, signal)
      }
    }
  }
}

/** Client errors are final but for 408 and 429. */
function refused(status: number, path: string, retryAfter: string | undefined): OciError {
  const again = status >= 500 || status === 408 || status === 429
  const seconds = Number(retryAfter)
  const wait = seconds > 0 ? { retryAfterMs: Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) } : {}
  return new OciError('PullFailed', `the registry answered ${status} for ${path}`, {
    retry: again ? 'backoff' : 'never',
    ...wait,
  })
}

/** What this host itself refuses: trying again does not help, and the caller knows better what it means. */
const LOCAL = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EIO',
  'EMFILE',
  'ENFILE',
  'EACCES',
  'EPERM',
  'EEXIST',
  'ENOENT',
])

/** What is neither ours nor this host's came from the connection, so it may go better next time. */
function asPullError(error: unknown): OciError {
  if (error instanceof OciError) return error
  if (error instanceof Error && 'code' in error && LOCAL.has(String(error.code))) throw error
  return new OciError('PullFailed', messageOf(error), { retry: 'backoff', cause: error })
}

function mismatch(wanted: string, found: string): OciError {
  return new OciError('DigestMismatch', `the registry sent ${found} for ${wanted}`)
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
