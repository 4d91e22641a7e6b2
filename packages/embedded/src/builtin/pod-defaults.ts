import { assign, isObject, type Json, type JsonObject, listAt, objectAt, stringAt } from '../json.ts'
import { type KubeObject, withFields } from '../objects.ts'

const TOLERATION_SECONDS = 300
const GRACE_SECONDS = 30

/** The defaults of a Pod and what admission adds to it, for every Pod to be read as a kubelet expects it. */
export function defaultPod(pod: KubeObject): KubeObject {
  const spec = objectAt(pod, 'spec')
  const containers = listAt(spec, 'containers').map(defaultContainer)
  return withFields(pod, {
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: GRACE_SECONDS,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      ...spec,
      containers,
    },
  })
}

/** Times of a condition that nobody set are null on the wire. */
export function zeroPod(pod: KubeObject): KubeObject {
  const status = withTimes(objectAt(pod, 'status'), ['lastProbeTime', 'lastTransitionTime'])
  return withFields(pod, { status })
}

/** A status whose conditions all have these times. */
export function withTimes(status: JsonObject, names: readonly string[]): JsonObject {
  const conditions = listAt(status, 'conditions')
  if (conditions.length === 0) return status
  const times = Object.fromEntries(names.map((name) => [name, null]))
  return { ...status, conditions: conditions.map((c) => (isObject(c) ? { ...times, ...c } : c)) }
}

function defaultContainer(container: Json): Json {
  if (!isObject(container)) return container
  const ports = listAt(container, 'ports').map((port) =>
    isObject(port) ? { protocol: 'TCP', ...port } : port,
  )
  return assign(
    {
      resources: {},
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: pullPolicy(stringAt(container, 'image')),
      ...container,
    },
    ports.length > 0 ? { ports } : {},
  )
}

/** `latest`, or no tag at all, is pulled every time; a pinned image once. */
function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1)
  if (name.includes('@')) return 'IfNotPresent'
  const tag = name.includes(':') ? name.slice(name.indexOf(':') + 1) : 'latest'
  return tag === 'latest' ? 'Always' : 'IfNotPresent'
}

function notReady(key: string): JsonObject {
  return { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS }
}

/** A new Pod: Pending, with the tolerations and the priority that admission gives. */
export function createPod(pod: KubeObject): KubeObject {
  const spec = objectAt(pod, 'spec')
  const tolerations = [
    ...listAt(spec, 'tolerations'),
    ...['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map(notReady),
  ]
  return withFields(pod, {
    spec: { priority: 0, preemptionPolicy: 'PreemptLowerPriority', ...spec, tolerations },
    status: { phase: 'Pending', qosClass: qosClass(listAt(spec, 'containers')) },
  })
}

function qosClass(containers: readonly Json[]): string {
  const sides = containers.map((c) => [
    objectAt(c, 'resources', 'requests'),
    objectAt(c, 'resources', 'limits'),
  ])
  if (sides.every(([requests, limits]) => isEmpty(requests) && isEmpty(limits))) return 'BestEffort'
  const guaranteed = sides.every(([requests, limits]) =>
    ['cpu', 'memory'].every((name) => {
      const limit = limits?.[name]
      return limit !== undefined && (requests?.[name] ?? limit) === limit
    }),
  )
  return guaranteed ? 'Guaranteed' : 'Burstable'
}

function isEmpty(object: JsonObject | undefined): boolean {
  return !object || Object.keys(object).length === 0
}
