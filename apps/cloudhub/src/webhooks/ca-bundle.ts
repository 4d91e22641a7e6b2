import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import {
  KubeError,
  MUTATING_WEBHOOKS,
  type Resource,
  VALIDATING_WEBHOOKS,
  type WebhookConfiguration,
} from '@upgrade-hub/kube'
import type { KubeApi } from '../kube-api.ts'
import { slept } from '../slept.ts'
import { isOwnWebhook, mutatingConfiguration, validatingConfiguration } from './configurations.ts'

export interface CaBundleOptions {
  readonly client: KubeApi
  /** Name of both configurations. */
  readonly name: string
  /** PEM. */
  readonly ca: string
  /** Set: the configurations are ours to make, and call this address. */
  readonly url?: string
  readonly clock: Clock
  readonly log: Logger
}

const LOOK_EVERY_MS = 60_000
const RETRY_MS = 5_000

/** Keeps caBundle (and the address, where it is ours) of our webhooks right until the signal aborts. */
export async function keepCaBundle(options: CaBundleOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options
  let waitMs = 0
  while (await slept(clock, waitMs, signal)) {
    try {
      await reconcileCaBundle(options)
      waitMs = LOOK_EVERY_MS
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the webhook configurations cannot be kept right now')
      waitMs = RETRY_MS
    }
  }
}

/** One look at both configurations, and the patches that they need. @throws KubeError */
export async function reconcileCaBundle(options: CaBundleOptions): Promise<void> {
  const caBundle = Buffer.from(options.ca).toString('base64')
  const { name, url } = options
  const target = url === undefined ? undefined : { url }
  await reconcile(
    options,
    VALIDATING_WEBHOOKS,
    target && validatingConfiguration(name, target, caBundle),
    caBundle,
  )
  await reconcile(
    options,
    MUTATING_WEBHOOKS,
    target && mutatingConfiguration(name, target, caBundle),
    caBundle,
  )
}

async function reconcile(
  { client, name, log }: CaBundleOptions,
  resource: Resource<WebhookConfiguration>,
  made: WebhookConfiguration | undefined,
  caBundle: string,
): Promise<void> {
  const stored = await find(client, resource, name)
  if (!stored) {
    if (made) await client.create(resource, made)
    return
  }
  const webhooks = (stored.webhooks ?? []).map((webhook) => corrected(webhook, made, caBundle))
  if (JSON.stringify(webhooks) === JSON.stringify(stored.webhooks ?? [])) return
  const { resourceVersion } = stored.metadata
  await client.patch(resource, name, { metadata: { resourceVersion }, webhooks })
  log.info({ kind: resource.kind, name }, 'caBundle of the webhooks brought up to date')
}

type Webhook = NonNullable<WebhookConfiguration['webhooks']>[number]

function corrected(webhook: Webhook, made: WebhookConfiguration | undefined, caBundle: string): Webhook {
  if (!isOwnWebhook(webhook.name)) return webhook
  const address = made?.webhooks?.find(({ name }) => name === webhook.name)?.clientConfig
  return { ...webhook, clientConfig: { ...(address ?? webhook.clientConfig), caBundle } }
}

async function find(
  client: KubeApi,
  resource: Resource<WebhookConfiguration>,
  name: string,
): Promise<WebhookConfiguration | undefined> {
  try {
    return await client.get(resource, name)
  } catch (error) {
    if (error instanceof KubeError && error.isNotFound) return undefined
    throw error
  }
}
