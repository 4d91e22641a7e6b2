import type { Clock, Logger, Metrics } from '@upgrade-hub/core'
import type { HubCa } from '../certificates/hub-ca.ts'
import type { ServerCertificate } from '../certificates/server-certificate.ts'
import { serveHealth } from '../http/health.ts'
import { createHttpsApp, type HttpsApp } from '../http/server.ts'
import type { KubeApi } from '../kube-api.ts'
import type { Identities } from './identity/identities.ts'
import { guardRoutes } from './routes/access.ts'
import { readBytes, serveCertificates } from './routes/certificates.ts'
import { type StoreResult, serveResults } from './routes/results.ts'

export interface EdgeApiOptions {
  readonly client: KubeApi
  readonly hubCa: HubCa
  readonly certificate: ServerCertificate
  readonly identities: Identities
  readonly store: StoreResult
  readonly nodeDays: number
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** The HTTPS server of :10002, not yet listening: certificates, results and health, and nothing else. */
export function createEdgeApi(options: EdgeApiOptions): HttpsApp {
  const { certificate, hubCa, identities, log, metrics, clock, store } = options
  const app = createHttpsApp({ certificate, clientCa: hubCa.ca.certPem, log, metrics })
  readBytes(app)
  guardRoutes(app, (identity) => identities.admit(identity))
  serveCertificates(app, options)
  serveResults(app, { store, clock })
  // The port opens when everything is known.
  serveHealth(app, { isReady: () => true })
  return app
}
