import { messageOf } from '@upgrade-hub/core'
import { Agent, request } from 'undici'
import { WebhookCallError } from '../errors.ts'
import { isObject, type Json, type JsonObject, stringAt } from '../json.ts'
import type { ClientConfig } from './webhook.ts'

const MAX_ANSWER_BYTES = 3 * 1024 * 1024
const MAX_AGENTS = 64

interface Address {
  readonly url: URL
  /** Whom the certificate must be for, where that is not the host of the URL. */
  readonly servername?: string
}

/**
 * Calls admission webhooks over HTTPS on kept connections. A webhook of a Service is reached at 127.0.0.1 and the port
 * that `servicePorts` gives for `namespace/name`; its certificate must be for `name.namespace.svc`.
 */
export class WebhookClient {
  readonly #servicePorts: Readonly<Record<string, number>>
  readonly #agents = new Map<string, Agent>()

  constructor(servicePorts: Readonly<Record<string, number>>) {
    this.#servicePorts = servicePorts
  }

  /** Sends an AdmissionReview and gives its `response`. Throws WebhookCallError. */
  async review(client: ClientConfig, body: JsonObject, timeoutMs: number): Promise<JsonObject> {
    const { url, servername } = this.#address(client)
    url.searchParams.set('timeout', `${Math.ceil(timeoutMs / 1000)}s`)
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        dispatcher: this.#agent(client.ca, servername),
        signal: AbortSignal.timeout(timeoutMs),
      })
      const text = await limitedText(answer.body)
      if (answer.statusCode !== 200) throw new WebhookCallError(`status code ${answer.statusCode}`)
      return responseOf(text, body)
    } catch (error) {
      throw new WebhookCallError(`failed to call webhook: Post "${url.href}": ${messageOf(error)}`)
    }
  }

  async close(): Promise<void> {
    const agents = [...this.#agents.values()]
    this.#agents.clear()
    await Promise.allSettled(agents.map((agent) => agent.destroy()))
  }

  #address({ url, service }: ClientConfig): Address {
    if (!service) {
      const parsed = URL.parse(url)
      if (!parsed) throw new WebhookCallError(`${JSON.stringify(url)} is no URL`)
      return { url: parsed }
    }
    const port = this.#servicePorts[`${service.namespace}/${service.name}`]
    if (port === undefined) throw new WebhookCallError(`service "${service.name}" not found`)
    const path = service.path.startsWith('/') ? service.path : `/${service.path}`
    return {
      url: new URL(path, `https://127.0.0.1:${port}`),
      servername: `${service.name}.${service.namespace}.svc`,
    }
  }

  /** One pool of connections for each authority: a rotated caBundle gets a new one, the oldest goes. */
  #agent(ca: string, servername: string | undefined): Agent {
    const key = `${servername ?? ''}\n${ca}`
    const known = this.#agents.get(key)
    if (known) return known
    const [oldest] = this.#agents
    if (oldest && this.#agents.size >= MAX_AGENTS) {
      this.#agents.delete(oldest[0])
      void oldest[1].close().catch(() => undefined)
    }
    const agent = new Agent({
      connections: 8,
      connect: { ...(servername ? { servername } : {}), ...(ca ? { ca } : {}) },
    })
    this.#agents.set(key, agent)
    return agent
  }
}

async function limitedText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new WebhookCallError('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function responseOf(text: string, body: JsonObject): JsonObject {
  const review = JSON.parse(text) as Json
  const response = isObject(review) ? review['response'] : undefined
  if (!isObject(response)) throw new WebhookCallError('the answer has no response')
  if (stringAt(response, 'uid') !== stringAt(body, 'request', 'uid')) {
    throw new WebhookCallError('the answer is for another request')
  }
  if (typeof response['allowed'] !== 'boolean')
    throw new WebhookCallError('the answer does not say whether it allows')
  return response
}
