import { assign, isObject, type Json, type JsonObject, listAt, objectAt, stringAt, textOf } from '../json.ts'
import { type KubeObject, withFields, withMeta } from '../objects.ts'
import type { World } from '../registry/resource.ts'
import { withTimes } from './pod-defaults.ts'

const NODE_INFO_FIELDS = [
  ...['machineID', 'systemUUID', 'bootID', 'kernelVersion', 'osImage', 'containerRuntimeVersion'],
  ...['kubeletVersion', 'kubeProxyVersion', 'operatingSystem', 'architecture'],
]

/** What is never absent from a Node on the wire. */
export function zeroNode(node: KubeObject): KubeObject {
  const info = objectAt(node, 'status', 'nodeInfo')
  return withFields(node, {
    spec: objectAt(node, 'spec'),
    status: {
      ...withTimes(objectAt(node, 'status'), ['lastHeartbeatTime', 'lastTransitionTime']),
      daemonEndpoints: { kubeletEndpoint: { Port: 0 }, ...objectAt(node, 'status', 'daemonEndpoints') },
      nodeInfo: { ...Object.fromEntries(NODE_INFO_FIELDS.map((name) => [name, ''])), ...info },
    },
  })
}

/** `stringData` is write-only: it is laid over `data` in base64. */
export function defaultSecret(secret: KubeObject): KubeObject {
  const { stringData, ...rest } = secret
  const texts = isObject(stringData) ? stringData : {}
  const encoded = Object.entries(texts).map(([key, value]) => [
    key,
    Buffer.from(textOf(value)).toString('base64'),
  ])
  const data = { ...objectAt(secret, 'data'), ...Object.fromEntries(encoded) }
  return assign(rest, {
    type: stringAt(secret, 'type') || 'Opaque',
    data: Object.keys(data).length > 0 ? data : undefined,
  }) as KubeObject
}

export function defaultNamespace(namespace: KubeObject): KubeObject {
  const labels = { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': namespace.metadata.name }
  return namespace.metadata.name ? withMeta(namespace, { labels }) : namespace
}

export function createNamespace(namespace: KubeObject): KubeObject {
  const finalizers = listAt(namespace, 'spec', 'finalizers')
  const spec = { finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'] }
  return withFields(namespace, { spec, status: { phase: 'Active' } })
}

export function defaultService(service: KubeObject): KubeObject {
  const spec = objectAt(service, 'spec')
  const ports = listAt(spec, 'ports').map((port) => {
    if (!isObject(port)) return port
    return { protocol: 'TCP', targetPort: port['port'] ?? 0, ...port }
  })
  return withFields(service, {
    spec: assign(
      { sessionAffinity: 'None', type: 'ClusterIP', internalTrafficPolicy: 'Cluster', ...spec },
      { ports: ports.length > 0 ? ports : undefined },
    ),
  })
}

const SERVICE_NETWORK = '10.0.0.'
const SERVICE_HOSTS = 254

/** Gives a Service the lowest free address of 10.0.0.0/24; no address where none is free or none is wanted. */
export function createService(service: KubeObject, world: World): KubeObject {
  const spec = objectAt(service, 'spec')
  const bare = withFields(service, { status: { loadBalancer: {} } })
  if (spec['type'] === 'ExternalName') return bare
  const family = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }
  const address = stringAt(spec, 'clusterIP') || freeAddress(world)
  if (!address) return bare
  return withFields(bare, { spec: { ...family, ...spec, clusterIP: address, clusterIPs: [address] } })
}

function freeAddress(world: World): string | undefined {
  const used = new Set([...world.objects('services')].map((other) => stringAt(other, 'spec', 'clusterIP')))
  for (let host = 2; host <= SERVICE_HOSTS; host++) {
    if (!used.has(SERVICE_NETWORK + host)) return SERVICE_NETWORK + host
  }
  return undefined
}

export function createBudget(budget: KubeObject): KubeObject {
  return withFields(budget, {
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  })
}

const WEBHOOK_DEFAULTS: JsonObject = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
}

function defaultWebhook(webhook: Json, more: JsonObject): Json {
  if (!isObject(webhook)) return webhook
  const rules = listAt(webhook, 'rules').map((rule) => (isObject(rule) ? { scope: '*', ...rule } : rule))
  const service = webhook['clientConfig'] && objectAt(webhook, 'clientConfig')['service']
  const clientConfig = isObject(service)
    ? { clientConfig: { ...objectAt(webhook, 'clientConfig'), service: { port: 443, ...service } } }
    : {}
  return assign(
    { ...WEBHOOK_DEFAULTS, ...more, ...webhook, ...clientConfig },
    rules.length > 0 ? { rules } : {},
  )
}

export function defaultWebhooks(more: JsonObject): (config: KubeObject) => KubeObject {
  return (config) => {
    const webhooks = listAt(config, 'webhooks')
    if (webhooks.length === 0) return config
    return withFields(config, { webhooks: webhooks.map((webhook) => defaultWebhook(webhook, more)) })
  }
}
