import type { Server } from 'node:http'
import type { Logger } from '@upgrade-hub/core'
import type { MetricsRegistry } from '@upgrade-hub/observability'
import { type FastifyInstance, fastify } from 'fastify'
import { answerError, answerUnknownRoute, onBrokenRequest } from './answers.ts'
import { type Health, serveHealth } from './health.ts'
import { HTTP_LIMITS } from './limits.ts'

export interface MetricsServerOptions extends Health {
  readonly registry: MetricsRegistry
  readonly log: Logger
}

/** `GET /metrics`, `/healthz` and `/readyz` in plain HTTP, for the inside of a cluster. Nothing secret is said here. */
export function createMetricsServer({
  registry,
  log,
  ...health
}: MetricsServerOptions): FastifyInstance<Server> {
  const app = fastify({
    http: {
      headersTimeout: HTTP_LIMITS.headersTimeoutMs,
      connectionsCheckingInterval: HTTP_LIMITS.checkTimersEveryMs,
      maxHeaderSize: HTTP_LIMITS.maxHeaderBytes,
    },
    bodyLimit: 1024,
    requestTimeout: HTTP_LIMITS.requestTimeoutMs,
    connectionTimeout: HTTP_LIMITS.idleTimeoutMs,
    keepAliveTimeout: HTTP_LIMITS.keepAliveTimeoutMs,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    logger: false,
    frameworkErrors: (error, _request, reply) => void answerError(error, reply, log),
    clientErrorHandler: onBrokenRequest,
  })
  app.server.maxConnections = 256
  app.setErrorHandler((error, _request, reply) => answerError(error, reply, log))
  app.setNotFoundHandler(answerUnknownRoute)
  serveHealth(app, health)
  app.get('/metrics', async (_, reply) => {
    const { contentType, body } = await registry.render()
    return reply.type(contentType).send(body)
  })
  return app
}
