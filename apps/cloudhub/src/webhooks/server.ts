import type { Logger } from '@upgrade-hub/core'
import type { SlimNode } from '@upgrade-hub/rollout'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServerCertificate } from '../certificates/server-certificate.ts'
import { serveHealth } from '../http/health.ts'
import { createHttpsApp, type HttpsApp } from '../http/server.ts'
import { MUTATE_PATH, VALIDATE_PATH } from './configurations.ts'
import { admitJob } from './job-admission.ts'
import { type AdmissionAnswer, type AdmissionRequest, answerReview, parseReview } from './review.ts'

export interface WebhookServerOptions {
  readonly certificate: ServerCertificate
  /** The cluster's nodes, for warnings; undefined while they are not known. */
  readonly nodes: () => readonly SlimNode[] | undefined
  readonly log: Logger
}

/** The HTTPS server of the admission webhooks, not yet listening. It is ready as soon as it listens. */
export function createWebhookServer({ certificate, nodes, log }: WebhookServerOptions): HttpsApp {
  const app = createHttpsApp({ certificate, log })
  const serve = (path: string, decide: (request: AdmissionRequest) => AdmissionAnswer) => {
    app.post(path, (request: FastifyRequest, reply: FastifyReply) => {
      const review = parseReview(request.body)
      return reply.send(answerReview(review.uid, decide(review)))
    })
  }
  serve(VALIDATE_PATH, (review) => admitJob(review, nodes()))
  // Approvals are the only thing that would be stamped, and there are none in the schema.
  serve(MUTATE_PATH, () => ({ allowed: true }))
  serveHealth(app, () => true)
  return app
}
