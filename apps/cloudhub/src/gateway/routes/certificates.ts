import { type Clock, type Logger, rfc3339 } from '@upgrade-hub/core'
import { caHash, isNodeName, MAX_CSR_BYTES, PkiError, type SignedNode } from '@upgrade-hub/pki'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HubCa } from '../../certificates/hub-ca.ts'
import { HttpError } from '../../errors.ts'
import { Gate } from '../../http/gate.ts'
import { RateLimiter } from '../../http/rate-limit.ts'
import type { HttpsApp } from '../../http/server.ts'
import type { KubeApi } from '../../kube-api.ts'
import type { Applicant } from '../identity/decide.ts'
import type { Identities } from '../identity/identities.ts'
import { redeemToken } from '../tokens.ts'
import { callerOf } from './access.ts'

export interface CertificateRoutes {
  readonly client: KubeApi
  readonly hubCa: HubCa
  readonly identities: Identities
  readonly nodeDays: number
  readonly clock: Clock
  readonly log: Logger
}

const DAY_SECONDS = 86_400
/**
 * A whole site may join from behind one address. A guesser gets ten answers from one and then one in six seconds; who has a
 * good token is not held up by a guesser beside it.
 */
const REQUESTS_OF_AN_ADDRESS = { perSecond: 5, burst: 50 }
const FAILURES_OF_AN_ADDRESS = { perSecond: 1 / 6, burst: 10 }
const REQUESTS = { perSecond: 40, burst: 100 }
/** A signature costs 15 ms of this thread. */
const SIGNATURES = { running: 2, waiting: 64 }

/** `GET /ca.crt`, and `GET|POST /edge.crt` where an edge gets its certificate: KubeEdge's paths, headers and bodies. */
export function serveCertificates(app: HttpsApp, options: CertificateRoutes): void {
  const desk = new CertificateDesk(options)
  app.get('/ca.crt', { config: { access: 'open' } }, (_, reply) => der(reply, options.hubCa.ca.certDer))
  app.route({
    // KubeEdge's edges send the request in the body of a GET.
    method: ['GET', 'POST'],
    url: '/edge.crt',
    bodyLimit: MAX_CSR_BYTES,
    config: { access: 'token-or-node' },
    onRequest: async (request) => desk.limit(request.ip),
    handler: async (request, reply) => der(reply, await desk.serve(request)),
  })
}

/** Request bodies of certificates are bytes, whatever the content type says; only JSON routes read JSON. */
export function readBytes(app: HttpsApp): void {
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
}

function der(reply: FastifyReply, bytes: Buffer): FastifyReply {
  return reply.type('application/octet-stream').send(bytes)
}

class CertificateDesk {
  readonly #options: CertificateRoutes
  readonly #ofAddress: RateLimiter
  readonly #failures: RateLimiter
  readonly #all: RateLimiter
  readonly #signing = new Gate(SIGNATURES)

  constructor(options: CertificateRoutes) {
    this.#options = options
    this.#ofAddress = new RateLimiter(REQUESTS_OF_AN_ADDRESS, options.clock)
    this.#failures = new RateLimiter(FAILURES_OF_AN_ADDRESS, options.clock)
    this.#all = new RateLimiter(REQUESTS, options.clock)
  }

  limit(address: string): void {
    if (!this.#ofAddress.take(address) || !this.#all.take()) throw tooMany()
  }

  async serve(request: FastifyRequest): Promise<Buffer> {
    const nodeName = request.headers['nodename']
    if (typeof nodeName !== 'string' || !isNodeName(nodeName)) {
      throw new HttpError(400, 'MALFORMED', 'the header NodeName must be the name of a node')
    }
    const applicant = await this.#authenticate(request, nodeName)
    const signed = await this.#sign(request.body, nodeName)
    const { identities, client, log } = this.#options
    const { fingerprint } = signed
    const notAfter = rfc3339(signed.notAfter.getTime())
    await identities.enrol(nodeName, { applicant, fingerprint, notAfter, now: rfc3339(client.serverNow()) })
    log.info({ node: nodeName, applicant, fingerprint, notAfter }, 'certificate handed out')
    return signed.certDer
  }

  async #authenticate(request: FastifyRequest, nodeName: string): Promise<Applicant> {
    const caller = callerOf(request)
    if (caller) {
      if (caller.nodeName === nodeName) return { by: 'certificate', fingerprint: caller.fingerprint }
      throw new HttpError(403, 'IDENTITY_CONFLICT', 'the certificate is of another node')
    }
    const jwt = bearerOf(request.headers.authorization, this.#options.hubCa)
    try {
      const { client, hubCa } = this.#options
      const { id } = await redeemToken(client, hubCa, { jwt, nodeName })
      return { by: 'token', tokenId: id }
    } catch (error) {
      if (error instanceof HttpError && !this.#failures.take(request.ip)) throw tooMany()
      throw error
    }
  }

  async #sign(body: unknown, nodeName: string): Promise<SignedNode> {
    if (!Buffer.isBuffer(body))
      throw new HttpError(400, 'MALFORMED', 'the body must be a PKCS #10 request in DER')
    const { hubCa, nodeDays } = this.#options
    try {
      return await this.#signing.run(() =>
        hubCa.ca.signNodeCsr(body, { nodeName, validSeconds: nodeDays * DAY_SECONDS }),
      )
    } catch (error) {
      throw error instanceof PkiError ? new HttpError(400, error.code, error.message) : error
    }
  }
}

function tooMany(): HttpError {
  return new HttpError(429, 'TOO_MANY_REQUESTS', 'too many certificate requests', { retryAfterSeconds: 10 })
}

/** The JWT of `Authorization: Bearer`; KubeEdge's edges leave the CA hash out, ours may send the whole token. */
function bearerOf(header: string | undefined, { ca }: HubCa): string {
  const token = /^Bearer ([\w.-]{1,2048})$/.exec(header ?? '')?.[1] ?? ''
  const prefix = `${caHash(ca.certDer)}.`
  return token.startsWith(prefix) ? token.slice(prefix.length) : token
}
