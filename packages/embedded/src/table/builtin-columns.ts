import { at, type Json, listAt, objectAt, stringAt, stringsAt, textOf } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { ageOf } from './age.ts'
import type { Column } from './column.ts'
import { age, column, integer, NAME, NONE, wide } from './column-kit.ts'
import { nodeColumns } from './node-columns.ts'
import { podColumns } from './pod-columns.ts'

const NAMESPACE_COLUMNS = [
  NAME,
  column('Status', 'The status of the namespace', (o) => stringAt(o, 'status', 'phase')),
  age(),
]

function keyCount(...fields: readonly string[]): (object: KubeObject) => number {
  return (object) => fields.reduce((sum, field) => sum + Object.keys(objectAt(object, field)).length, 0)
}

const SECRET_COLUMNS = [
  NAME,
  column('Type', 'Used to facilitate programmatic handling of secret data.', (o) => stringAt(o, 'type')),
  column('Data', 'Data contains the secret data.', keyCount('data')),
  age(),
]

const CONFIG_MAP_COLUMNS = [
  NAME,
  column('Data', 'Data contains the configuration data.', keyCount('data', 'binaryData')),
  age(),
]

function ports(service: KubeObject): string {
  const texts = listAt(service, 'spec', 'ports').map((port) => {
    const node = at(port, 'nodePort') ? `:${textOf(at(port, 'nodePort'))}` : ''
    return `${textOf(at(port, 'port'))}${node}/${stringAt(port, 'protocol')}`
  })
  return texts.join(',') || NONE
}

function pairs(labels: Json): string {
  const texts = Object.entries(objectAt(labels)).map(([key, value]) => `${key}=${textOf(value)}`)
  return texts.join(',') || NONE
}

const SERVICE_COLUMNS = [
  NAME,
  column('Type', 'How the Service is exposed.', (o) => stringAt(o, 'spec', 'type')),
  column('Cluster-IP', 'The address of the service.', (o) => stringAt(o, 'spec', 'clusterIP') || NONE),
  column(
    'External-IP',
    'Addresses for which nodes in the cluster also accept traffic for this service.',
    (o) => stringAt(o, 'spec', 'externalName') || stringsAt(o, 'spec', 'externalIPs').join(',') || NONE,
  ),
  column('Port(s)', 'The list of ports that are exposed by this service.', ports),
  age(),
  wide(
    column('Selector', 'Route service traffic to pods with matching labels.', (o) =>
      pairs(objectAt(o, 'spec', 'selector')),
    ),
  ),
]

function source(event: KubeObject): string {
  const component = stringAt(event, 'source', 'component') || stringAt(event, 'reportingComponent')
  const host = stringAt(event, 'source', 'host') || stringAt(event, 'reportingInstance')
  return [component, host].filter(Boolean).join(', ')
}

function involved(event: KubeObject): string {
  const kind = stringAt(event, 'involvedObject', 'kind').toLowerCase()
  const name = stringAt(event, 'involvedObject', 'name')
  return kind ? `${kind}/${name}` : name
}

function firstSeen(event: KubeObject): Json | undefined {
  return event['firstTimestamp'] ?? event['eventTime'] ?? undefined
}

function lastSeen(event: KubeObject): Json | undefined {
  return at(event, 'series', 'lastObservedTime') ?? event['lastTimestamp'] ?? firstSeen(event)
}

function occurrences(event: KubeObject): Json {
  return at(event, 'series', 'count') ?? event['count'] ?? 1
}

const EVENT_COLUMNS = [
  column('Last Seen', 'The time at which the most recent occurrence of this event was recorded.', (o, now) =>
    ageOf(lastSeen(o), now),
  ),
  column('Type', 'Type of this event (Normal, Warning), new types could be added in the future', (o) =>
    stringAt(o, 'type'),
  ),
  column('Reason', 'The reason for the transition into the current status.', (o) => stringAt(o, 'reason')),
  column('Object', 'The object that this event is about.', involved),
  wide(
    column('Subobject', 'The piece of the object that this event is about.', (o) =>
      stringAt(o, 'involvedObject', 'fieldPath'),
    ),
  ),
  wide(
    column(
      'Source',
      'The component reporting this event. Should be a short machine understandable string.',
      source,
    ),
  ),
  column('Message', 'A human-readable description of the status of this operation.', (o) =>
    stringAt(o, 'message').trim(),
  ),
  wide(
    column('First Seen', 'The time at which the event was first recorded.', (o, now) =>
      ageOf(firstSeen(o), now),
    ),
  ),
  wide(column('Count', 'The number of times this event has occurred.', occurrences)),
  wide(NAME),
]

const LEASE_COLUMNS = [
  NAME,
  column('Holder', 'The identity of the holder of a current lease.', (o) =>
    stringAt(o, 'spec', 'holderIdentity'),
  ),
  age(),
]

function orNotApplicable(...path: readonly string[]): (object: KubeObject) => Json {
  return (object) => {
    const value = at(object, ...path)
    return value === undefined ? 'N/A' : String(value as string | number)
  }
}

const BUDGET_COLUMNS = [
  NAME,
  column(
    'Min Available',
    'The minimum number of pods that must be available.',
    orNotApplicable('spec', 'minAvailable'),
  ),
  column(
    'Max Unavailable',
    'The maximum number of pods that may be unavailable.',
    orNotApplicable('spec', 'maxUnavailable'),
  ),
  integer(
    column(
      'Allowed Disruptions',
      'Calculated number of pods that may be disrupted at this time.',
      (o) => at(o, 'status', 'disruptionsAllowed') ?? 0,
    ),
  ),
  age(),
]

const WEBHOOK_COLUMNS = [
  NAME,
  integer(
    column(
      'Webhooks',
      'Webhooks indicates the number of webhooks registered in this configuration',
      (o) => listAt(o, 'webhooks').length,
    ),
  ),
  age(),
]

function reference(object: Json | undefined, parts: readonly string[]): string {
  return (
    parts
      .map((part) => stringAt(object, part))
      .filter(Boolean)
      .join('/') || '<unset>'
  )
}

const POLICY_COLUMNS = [
  NAME,
  integer(
    column(
      'Validations',
      'The number of validation rules defined in this configuration',
      (o) => listAt(o, 'spec', 'validations').length,
    ),
  ),
  column('ParamKind', 'The kind of resources used to parameterize this policy', (o) =>
    reference(at(o, 'spec', 'paramKind'), ['apiVersion', 'kind']),
  ),
  age(),
]

const BINDING_COLUMNS = [
  NAME,
  column('PolicyName', 'The policy definition which the policy binding binds to', (o) =>
    stringAt(o, 'spec', 'policyName'),
  ),
  column('ParamRef', 'The param resource which sets the configration param', (o) =>
    reference(at(o, 'spec', 'paramRef'), ['namespace', 'name']),
  ),
  age(),
]

function servedVersions(crd: KubeObject): string {
  return listAt(crd, 'spec', 'versions')
    .filter((version) => at(version, 'served') === true)
    .map((version) => stringAt(version, 'name') + (at(version, 'storage') === true ? '(storage)' : ''))
    .join(',')
}

function crdEstablished(crd: KubeObject): boolean {
  return listAt(crd, 'status', 'conditions').some(
    (c) => stringAt(c, 'type') === 'Established' && stringAt(c, 'status') === 'True',
  )
}

const CRD_COLUMNS: readonly Column[] = [
  NAME,
  column('Scope', 'Cluster/Namespaced', (o) => stringAt(o, 'spec', 'scope')),
  column('Versions', 'Served versions', servedVersions),
  {
    ...column(
      'Created At',
      'The server time when this object was created.',
      (o) => o.metadata.creationTimestamp ?? '',
    ),
    type: 'date',
  },
  wide(column('Group', 'API group', (o) => stringAt(o, 'spec', 'group'))),
  wide(column('Kind', 'CustomResource kind', (o) => stringAt(o, 'spec', 'names', 'kind'))),
  wide(column('ShortNames', 'Short names', (o) => stringsAt(o, 'spec', 'names', 'shortNames').join(','))),
  wide({ ...column('Established', 'Established status', crdEstablished), type: 'boolean' }),
]

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  nodes: nodeColumns,
  pods: podColumns,
  namespaces: NAMESPACE_COLUMNS,
  secrets: SECRET_COLUMNS,
  configmaps: CONFIG_MAP_COLUMNS,
  services: SERVICE_COLUMNS,
  events: EVENT_COLUMNS,
  'coordination.k8s.io/leases': LEASE_COLUMNS,
  'policy/poddisruptionbudgets': BUDGET_COLUMNS,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': WEBHOOK_COLUMNS,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': WEBHOOK_COLUMNS,
  'admissionregistration.k8s.io/validatingadmissionpolicies': POLICY_COLUMNS,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': BINDING_COLUMNS,
  'apiextensions.k8s.io/customresourcedefinitions': CRD_COLUMNS,
}

/** The columns of `kubectl get` for a built-in kind, by the name of its storage. They read the stored version. */
export function builtinColumns(storage: string): readonly Column[] {
  return COLUMNS[storage] ?? [NAME, age()]
}
