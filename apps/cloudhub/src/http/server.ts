import { constants } from 'node:crypto'
import type { Server } from 'node:https'
import type { Logger, Metrics } from '@upgrade-hub/core'
import { type FastifyInstance, fastify } from 'fastify'
import type { ServerCertificate } from '../certificates/server-certificate.ts'
import { answerError, answerUnknownRoute, onBrokenRequest } from './answers.ts'
import { HTTP_LIMITS, type HttpLimits } from './limits.ts'

export type HttpsApp = FastifyInstance<Server>

export interface HttpsOptions {
  readonly certificate: ServerCertificate
  /** Ask for a client certificate of this CA (PEM). Having none is not an error here: each route says what it needs. */
  readonly clientCa?: string
  readonly log: Logger
  readonly metrics: Metrics
  /** Default HTTP_LIMITS. */
  readonly limits?: HttpLimits
}

/** TLS 1.2 or later, ECDHE only, no renegotiation. */
const TLS_OPTIONS = {
  minVersion: 'TLSv1.2',
  ciphers:
    'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE+AESGCM:ECDHE+CHACHA20',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const

/**
 * An HTTPS server on which everything has a cap and a timer, and that answers every error as JSON `{code, message}`
 * without a stack. Its certificate follows `certificate`. Only exact paths match.
 */
export function createHttpsApp(options: HttpsOptions): HttpsApp {
  const { certificate, clientCa, log, limits = HTTP_LIMITS } = options
  const app = fastify({
    https: {
      ...TLS_OPTIONS,
      ...certificate.current,
      ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: false }),
      handshakeTimeout: limits.handshakeTimeoutMs,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: limits.checkTimersEveryMs,
      maxHeaderSize: limits.maxHeaderBytes,
    },
    bodyLimit: limits.maxBodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.idleTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxRequestsPerSocket: limits.maxRequestsPerConnection,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    logger: false,
    frameworkErrors: (error, _request, reply) => void answerError(error, reply, log),
    clientErrorHandler: onBrokenRequest,
  })
  app.server.maxConnections = limits.maxConnections
  app.server.maxHeadersCount = limits.maxHeaders
  app.setErrorHandler((error, _request, reply) => answerError(error, reply, log))
  app.setNotFoundHandler(answerUnknownRoute)
  countRequests(app, options.metrics)
  const forget = certificate.follow((material) => {
    app.server.setSecureContext({
      ...TLS_OPTIONS,
      ...material,
      ...(clientCa === undefined ? {} : { ca: clientCa }),
    })
  })
  app.addHook('onClose', () => forget())
  return app
}

/** By route as it was declared, never by path: whoever knocks at random makes one series. */
function countRequests(app: HttpsApp, metrics: Metrics): void {
  const requests = metrics.counter('upgradehub_http_requests_total', 'Answered HTTPS requests.', [
    'route',
    'status',
  ])
  app.addHook('onResponse', async ({ is404, routeOptions }, { statusCode }) => {
    requests.inc({ route: is404 ? 'unknown' : (routeOptions.url ?? 'unknown'), status: String(statusCode) })
  })
}
