import { at, isObject, type Json, type JsonObject, listAt, objectAt, stringAt, stringsAt } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { compileMatchConditions, type MatchConditions } from '../schema/index.ts'
import { compileLabelSelector, type LabelMatcher } from '../selectors/label-selector.ts'

export interface Rule {
  readonly operations: readonly string[]
  readonly apiGroups: readonly string[]
  readonly apiVersions: readonly string[]
  readonly resources: readonly string[]
  readonly scope: string
}

export interface ClientConfig {
  readonly url: string
  readonly service:
    | { readonly namespace: string; readonly name: string; readonly path: string; readonly port: number }
    | undefined
  /** PEM; '' means the system's authorities. */
  readonly ca: string
}

/** One webhook of a configuration, read and compiled. */
export interface Webhook {
  readonly name: string
  readonly rules: readonly Rule[]
  readonly equivalent: boolean
  readonly ignoreFailure: boolean
  readonly timeoutMs: number
  readonly namespaceMatches: LabelMatcher
  readonly objectMatches: LabelMatcher
  readonly conditions: MatchConditions
  readonly client: ClientConfig
}

const DEFAULT_TIMEOUT_SECONDS = 10

/** The webhooks of one configuration object, in its order. */
export function compileWebhooks(config: KubeObject): readonly Webhook[] {
  return listAt(config, 'webhooks').filter(isObject).map(compileWebhook)
}

function compileWebhook(webhook: JsonObject): Webhook {
  const conditions = listAt(webhook, 'matchConditions').map((condition) => ({
    name: stringAt(condition, 'name'),
    expression: stringAt(condition, 'expression'),
  }))
  return {
    name: stringAt(webhook, 'name'),
    rules: listAt(webhook, 'rules').map(readRule),
    equivalent: stringAt(webhook, 'matchPolicy') !== 'Exact',
    ignoreFailure: stringAt(webhook, 'failurePolicy') === 'Ignore',
    timeoutMs: Number(webhook['timeoutSeconds'] ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    namespaceMatches: compileLabelSelector(webhook['namespaceSelector']),
    objectMatches: compileLabelSelector(webhook['objectSelector']),
    conditions: compileMatchConditions(conditions).conditions,
    client: readClient(objectAt(webhook, 'clientConfig')),
  }
}

function readRule(rule: Json): Rule {
  return {
    operations: stringsAt(rule, 'operations'),
    apiGroups: stringsAt(rule, 'apiGroups'),
    apiVersions: stringsAt(rule, 'apiVersions'),
    resources: stringsAt(rule, 'resources'),
    scope: stringAt(rule, 'scope') || '*',
  }
}

function readClient(config: JsonObject): ClientConfig {
  const service = config['service']
  return {
    url: stringAt(config, 'url'),
    service: isObject(service)
      ? {
          namespace: stringAt(service, 'namespace'),
          name: stringAt(service, 'name'),
          path: stringAt(service, 'path'),
          port: Number(at(service, 'port') ?? 443),
        }
      : undefined,
    ca: Buffer.from(stringAt(config, 'caBundle'), 'base64').toString(),
  }
}
