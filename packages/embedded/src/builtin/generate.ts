import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { isArray, isObject, type Json, type JsonObject } from '../json.ts'

/**
 * Writes `definitions.json`: the schemas of the built-in kinds that are served, as a real kube-apiserver publishes
 * them on /openapi/v3 (Apache-2.0, kubernetes/kubernetes). One definition a line, so that a diff can be read.
 * Usage: node generate.ts https://127.0.0.1:6443 TOKEN
 */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  'api/v1': [
    ...['Node', 'Event', 'Secret', 'ConfigMap', 'Namespace', 'ServiceAccount', 'Service', 'Pod'],
    ...['NodeList', 'EventList', 'SecretList', 'ConfigMapList', 'NamespaceList', 'ServiceAccountList'],
    ...['ServiceList', 'PodList', 'Status', 'DeleteOptions'],
  ],
  'apis/coordination.k8s.io/v1': ['Lease', 'LeaseList'],
  'apis/events.k8s.io/v1': ['Event', 'EventList'],
  'apis/policy/v1': ['PodDisruptionBudget', 'PodDisruptionBudgetList', 'Eviction'],
  'apis/apiextensions.k8s.io/v1': ['CustomResourceDefinition', 'CustomResourceDefinitionList'],
  'apis/admissionregistration.k8s.io/v1': [
    ...['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration', 'ValidatingAdmissionPolicy'],
    ...['ValidatingWebhookConfigurationList', 'MutatingWebhookConfigurationList'],
    ...[
      'ValidatingAdmissionPolicyList',
      'ValidatingAdmissionPolicyBinding',
      'ValidatingAdmissionPolicyBindingList',
    ],
  ],
  'apis/authorization.k8s.io/v1': ['SelfSubjectAccessReview', 'SelfSubjectRulesReview'],
  'apis/authentication.k8s.io/v1': ['SelfSubjectReview', 'TokenReview'],
}

/** Served by every definition's document, and wanted by none of ours. */
const FOREIGN_KINDS_KEY = 'x-kubernetes-group-version-kind'
const KEPT_FOREIGN = 1

async function fetchDocument(server: string, token: string, path: string): Promise<JsonObject> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = { authorization: `Bearer ${token}` }
  request(`${server}/openapi/v3/${path}`, { headers, rejectUnauthorized: false }, (response) => {
    text(response).then(resolve, reject)
  })
    .on('error', reject)
    .end()
  return JSON.parse(await promise) as JsonObject
}

function references(value: Json, found: Set<string> = new Set()): Set<string> {
  if (isArray(value)) for (const item of value) references(item, found)
  if (!isObject(value)) return found
  for (const [key, item] of Object.entries(value)) {
    if (key === '$ref' && typeof item === 'string') found.add(item.slice(item.lastIndexOf('/') + 1))
    else references(item, found)
  }
  return found
}

function shorten(name: string, definition: JsonObject): JsonObject {
  const kinds = definition[FOREIGN_KINDS_KEY]
  if (!isArray(kinds) || !name.includes('.meta.v1.')) return definition
  return { ...definition, [FOREIGN_KINDS_KEY]: kinds.slice(0, KEPT_FOREIGN) }
}

async function main(server: string, token: string): Promise<void> {
  const kept = new Map<string, JsonObject>()
  for (const [path, kinds] of Object.entries(KINDS)) {
    const document = await fetchDocument(server, token, path)
    const schemas = (document['components'] as JsonObject)['schemas'] as Record<string, JsonObject>
    const keep = (name: string): void => {
      const definition = schemas[name]
      if (!definition || kept.has(name)) return
      kept.set(name, shorten(name, definition))
      for (const next of references(definition)) keep(next)
    }
    for (const name of Object.keys(schemas))
      if (kinds.includes(name.slice(name.lastIndexOf('.') + 1))) keep(name)
  }
  const lines = [...kept]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`)
  writeFileSync(new URL('definitions.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)
}

await main(process.argv[2] ?? '', process.argv[3] ?? '')
