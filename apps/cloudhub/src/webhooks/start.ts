import { HUB_NAMESPACE } from '@upgrade-hub/api'
import type { Clock, Logger, Metrics } from '@upgrade-hub/core'
import type { SlimNode } from '@upgrade-hub/rollout'
import type { HubCa } from '../certificates/hub-ca.ts'
import { ServerCertificate } from '../certificates/server-certificate.ts'
import type { HubConfig } from '../config.ts'
import { listen } from '../http/listen.ts'
import type { KubeApi } from '../kube-api.ts'
import { keepCaBundle } from './ca-bundle.ts'
import { createWebhookServer } from './server.ts'

export interface WebhooksOptions {
  readonly client: KubeApi
  readonly config: HubConfig
  readonly hubCa: HubCa
  readonly nodes: () => readonly SlimNode[] | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

export interface Webhooks {
  readonly port: number
  stop(): Promise<void>
}

/** Serves the admission webhooks and keeps their configurations pointing here. Depends on nothing but its certificate. */
export async function startWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { client, config, hubCa, nodes, clock, log, metrics } = options
  const { configurationName, serviceName } = config.webhooks
  const stopped = new AbortController()
  const certificate = await ServerCertificate.issue({
    ca: hubCa.ca,
    names: {
      dnsNames: [...serviceNames(serviceName), ...config.advertise.dnsNames],
      ipAddresses: config.advertise.ipAddresses,
    },
    validDays: config.certificates.serverDays,
    clock,
    log,
  })
  const app = createWebhookServer({ certificate, nodes, clock, log, metrics })
  const port = await listen(app, { host: config.listen.host, port: config.listen.webhookPort })
  const url = config.webhooks.url ?? (config.embedded.enabled ? `https://127.0.0.1:${port}` : undefined)
  const bundle = {
    client,
    name: configurationName,
    ca: hubCa.ca.certPem,
    ...(url ? { url } : {}),
    clock,
    log,
  }
  const loops = [keepCaBundle(bundle, stopped.signal), certificate.run(stopped.signal)]
  const stop = async () => {
    stopped.abort()
    await app.close()
    await Promise.all(loops)
  }
  return { port, stop }
}

function serviceNames(service: string): string[] {
  const inNamespace = `${service}.${HUB_NAMESPACE}`
  return [inNamespace, `${inNamespace}.svc`, `${inNamespace}.svc.cluster.local`]
}
