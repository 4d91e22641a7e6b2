import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createCa } from '@upgrade-hub/pki'

/** An AdmissionReview as the planes send it. */
export interface Review {
  readonly apiVersion: string
  readonly kind: string
  readonly request: Readonly<Record<string, unknown>> & { readonly uid: string; readonly name?: string }
}

/** What a test webhook answers to a review: the `response` without its uid. */
export type Verdict = (review: Review) => object

/** A webhook over HTTPS that keeps every review it is asked for. */
export interface WebhookServer {
  readonly url: string
  readonly caBundle: string
  readonly reviews: Review[]
  stop(): Promise<void>
}

/** Starts a webhook on loopback with a certificate of its own. */
export async function startWebhook(verdict: Verdict): Promise<WebhookServer> {
  const ca = await createCa({ commonName: 'conformance-webhook', validDays: 1 })
  const { certPem, keyPem } = await ca.issueServer({
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    validDays: 1,
  })
  const reviews: Review[] = []
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString()) as Review
      reviews.push(review)
      const answer = { uid: review.request.uid, ...verdict(review) }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ apiVersion: review.apiVersion, kind: review.kind, response: answer }))
    })
  })
  const { port } = await listening(server)
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: Buffer.from(ca.certPem).toString('base64'),
    reviews,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function listening(server: Server): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      resolve(server.address() as AddressInfo)
    })
  })
}
