import { type Logger, messageOf } from '@upgrade-hub/core'
import { internalError, type StatusDetails, StatusError } from '../errors.ts'
import { at, isArray, isObject, type Json, type JsonObject, objectAt, stringAt, stringsAt } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource } from '../registry/resource.ts'
import type { Store } from '../store/store.ts'
import { decodeQuietly } from '../verbs/read-object.ts'
import type { Attributes } from './attributes.ts'
import { targetOf } from './match.ts'
import { reviewRequest } from './review.ts'
import { compileWebhooks, type Webhook } from './webhook.ts'
import type { WebhookClient } from './webhook-client.ts'

const GROUP = 'admissionregistration.k8s.io'
const MUTATING = `${GROUP}/mutatingwebhookconfigurations`
const VALIDATING = `${GROUP}/validatingwebhookconfigurations`

interface Call {
  readonly webhook: Webhook
  readonly target: Resource
}

/** Asks the webhooks that the API configures. Configurations themselves are never sent to one. */
export class Admission {
  readonly #store: Store
  readonly #registry: Registry
  readonly #client: WebhookClient
  readonly #log: Logger
  readonly #compiled = new WeakMap<KubeObject, readonly Webhook[]>()

  constructor(parts: { store: Store; registry: Registry; client: WebhookClient; log: Logger }) {
    this.#store = parts.store
    this.#registry = parts.registry
    this.#client = parts.client
    this.#log = parts.log
  }

  /** The object as the mutating webhooks want it, one after another. Throws the refusal of the first that refuses. */
  async mutate(attributes: Attributes): Promise<KubeObject> {
    const { object } = attributes
    if (!object) throw internalError('nothing to mutate')
    let current: KubeObject = object
    for (const webhook of this.#webhooks(MUTATING, attributes)) {
      const response = await this.#ask(webhook, { ...attributes, object: current })
      if (response) current = this.#patched(current, response, { webhook, attributes })
    }
    return current
  }

  /** Asks all validating webhooks at once; throws the refusal of the first in order. */
  async validate(attributes: Attributes): Promise<void> {
    const webhooks = this.#webhooks(VALIDATING, attributes)
    if (webhooks.length === 0) return
    const answers = await Promise.allSettled(webhooks.map((webhook) => this.#ask(webhook, attributes)))
    const refused = answers.find((answer) => answer.status === 'rejected')
    if (refused) throw refused.reason
  }

  #webhooks(storage: string, { call }: Attributes): readonly Webhook[] {
    const configs = this.#store.all(storage)
    if (configs.size === 0 || call.resource.group === GROUP) return []
    return configs.sortedKeys().flatMap((key) => {
      const config = configs.get(key)
      return config ? this.#compile(config) : []
    })
  }

  #compile(config: KubeObject): readonly Webhook[] {
    const webhooks = this.#compiled.get(config) ?? compileWebhooks(config)
    this.#compiled.set(config, webhooks)
    return webhooks
  }

  /** The answer of a webhook that the request concerns; undefined when it does not, or when its failure is ignored. */
  async #ask(webhook: Webhook, attributes: Attributes): Promise<JsonObject | undefined> {
    const target = targetOf(webhook, attributes, this.#registry)
    if (!target || !this.#isSelected(webhook, attributes)) return undefined
    const request = reviewRequest(attributes, target)
    const response = await this.#tolerating(webhook, () => this.#review({ webhook, target }, request))
    if (!response) return undefined
    for (const warning of stringsAt(response, 'warnings')) attributes.call.warn(warning)
    if (response['allowed'] !== true) throw refusal(webhook, objectAt(response, 'status'))
    return response
  }

  async #review({ webhook }: Call, request: JsonObject): Promise<JsonObject | undefined> {
    const { object = null, oldObject = null, ...rest } = request
    const verdict = webhook.conditions.matches({ object, oldObject, request: rest })
    if (verdict === 'skip') return undefined
    if (verdict !== 'match') throw new Error(verdict.error)
    const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request }
    return await this.#client.review(webhook.client, review, webhook.timeoutMs)
  }

  /** A failure of the webhook itself: refused with 500, or as if it were not there, by its failure policy. */
  async #tolerating<T>(webhook: Webhook, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await ask()
    } catch (error) {
      if (!webhook.ignoreFailure)
        throw internalError(`failed calling webhook "${webhook.name}": ${messageOf(error)}`)
      this.#log.warn({ webhook: webhook.name, error: messageOf(error) }, 'a webhook failed and is ignored')
      return undefined
    }
  }

  #isSelected(webhook: Webhook, { call, object, oldObject }: Attributes): boolean {
    const namespace =
      call.resource.storage === 'namespaces' ? (object ?? oldObject) : this.#namespaceOf(call.namespace)
    const inNamespace = !namespace || webhook.namespaceMatches(namespace.metadata.labels)
    const matches = [object, oldObject].some(
      (o) => o !== undefined && webhook.objectMatches(o.metadata.labels),
    )
    return inNamespace && matches
  }

  #namespaceOf(name: string | undefined): KubeObject | undefined {
    return name === undefined ? undefined : this.#store.get('namespaces', name)
  }

  /** The object with the JSON patch of an answer, made in the version in which the webhook saw it. */
  #patched(
    object: KubeObject,
    response: JsonObject,
    { webhook, attributes }: { webhook: Webhook; attributes: Attributes },
  ): KubeObject {
    const patch = stringAt(response, 'patch')
    const { resource } = attributes.call
    const target = targetOf(webhook, attributes, this.#registry) ?? resource
    if (!patch) return object
    const refuse = (why: string) =>
      internalError(`admission webhook "${webhook.name}" made an invalid object: ${why}`)
    try {
      const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as Json
      const seen = target === resource ? object : target.fromStorage(resource.toStorage(object))
      const patched = applyJsonPatch(seen, isArray(operations) ? operations : []) as JsonObject
      const back =
        target === resource ? patched : resource.fromStorage(target.toStorage(patched as KubeObject))
      return decodeQuietly(resource, back, refuse).object
    } catch (error) {
      if (error instanceof StatusError) throw error
      throw refuse(messageOf(error))
    }
  }
}

const DEFAULT_REFUSAL = 403
const LEAST_REFUSAL = 400

/** What the client hears of a webhook's no: its words and its code. */
function refusal(webhook: Webhook, status: JsonObject): StatusError {
  const denied = `admission webhook "${webhook.name}" denied the request`
  const why = stringAt(status, 'message') || stringAt(status, 'reason')
  const code = Number(at(status, 'code') ?? DEFAULT_REFUSAL)
  const message = why ? `${denied}: ${why}` : `${denied} without explanation`
  const details = isObject(status['details']) ? (status['details'] as StatusDetails) : undefined
  return new StatusError(
    code >= LEAST_REFUSAL ? code : DEFAULT_REFUSAL,
    stringAt(status, 'reason'),
    message,
    details,
  )
}
