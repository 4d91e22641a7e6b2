import type { Clock, Logger, Metrics } from '@upgrade-hub/core'
import type { SlimNode } from '@upgrade-hub/rollout'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServerCertificate } from '../certificates/server-certificate.ts'
import { HttpError } from '../errors.ts'
import { serveHealth } from '../http/health.ts'
import { RateLimiter } from '../http/rate-limit.ts'
import { createHttpsApp, type HttpsApp } from '../http/server.ts'
import { stampApprovals } from './approvals.ts'
import { MUTATE_PATH, VALIDATE_PATH } from './configurations.ts'
import { admitJob } from './job-admission.ts'
import { type AdmissionAnswer, type AdmissionRequest, answerReview, parseReview } from './review.ts'

export interface WebhookServerOptions {
  readonly certificate: ServerCertificate
  /** The cluster's nodes, for warnings; undefined while they are not known. */
  readonly nodes: () => readonly SlimNode[] | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** The API server is one address and asks once a job; anybody in the pod network may ask too. */
const REVIEWS_OF_AN_ADDRESS = { perSecond: 50, burst: 200 }

/** The HTTPS server of the admission webhooks, not yet listening. It is ready as soon as it listens. */
export function createWebhookServer({
  certificate,
  nodes,
  clock,
  log,
  metrics,
}: WebhookServerOptions): HttpsApp {
  const app = createHttpsApp({ certificate, log, metrics })
  app.removeContentTypeParser('text/plain')
  const rate = new RateLimiter(REVIEWS_OF_AN_ADDRESS, clock)
  app.addHook('onRequest', async ({ ip }) => {
    if (!rate.take(ip))
      throw new HttpError(429, 'TOO_MANY_REQUESTS', 'too many reviews', { retryAfterSeconds: 1 })
  })
  const serve = (path: string, decide: (request: AdmissionRequest) => AdmissionAnswer) => {
    app.post(path, (request: FastifyRequest, reply: FastifyReply) => {
      const review = parseReview(request.body)
      return reply.send(answerReview(review.uid, decide(review)))
    })
  }
  serve(VALIDATE_PATH, (review) => admitJob(review, { nodes: nodes(), now: clock.now() }))
  serve(MUTATE_PATH, stampApprovals)
  serveHealth(app, { isReady: () => true })
  return app
}
