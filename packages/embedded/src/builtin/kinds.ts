import { at, stringAt, textOf } from '../json.ts'
import { dns1035Label, dnsLabel, requiredValue } from '../names.ts'
import type { KubeObject } from '../objects.ts'
import type { Resource } from '../registry/resource.ts'
import {
  createBudget,
  createNamespace,
  createService,
  defaultNamespace,
  defaultSecret,
  defaultService,
  defaultWebhooks,
  zeroNode,
} from './defaults.ts'
import {
  eventFieldNames,
  eventFields,
  eventFromStorage,
  eventToStorage,
  validateCoreEvent,
  validateEvent,
  zeroEvent,
  zeroNewEvent,
} from './events.ts'
import { createPod, defaultPod, zeroPod } from './pod-defaults.ts'
import { ALL_VERBS, builtin } from './resource-builder.ts'
import { validateWebhooks } from './validate-webhooks.ts'
import {
  all,
  immutableWhen,
  validateKeys,
  validateLease,
  validateNode,
  validatePod,
  validateSecret,
} from './validation.ts'

const CORE = 'io.k8s.api.core.v1.'
const ADMISSION = 'io.k8s.api.admissionregistration.v1.'

/** Reads the fields of a field selector from an object by their paths. */
function selectable(...paths: readonly string[]): Pick<Resource, 'fields' | 'fieldsOf'> {
  const split = paths.map((path) => [path, path.split('.')] as const)
  const fieldsOf = (object: KubeObject) =>
    Object.fromEntries(split.map(([path, keys]) => [path, stringAt(object, ...keys)]))
  return { fields: paths, fieldsOf }
}

const NODES = builtin({
  group: '',
  plural: 'nodes',
  kind: 'Node',
  definition: `${CORE}Node`,
  shortNames: ['no'],
  subresources: ['status'],
  zeros: zeroNode,
  strategy: { keepsStatusOnCreate: true, validate: validateNode },
  fields: ['spec.unschedulable'],
  fieldsOf: (node) => ({ 'spec.unschedulable': textOf(at(node, 'spec', 'unschedulable') ?? false) }),
})

const NAMESPACES = builtin({
  group: '',
  plural: 'namespaces',
  kind: 'Namespace',
  definition: `${CORE}Namespace`,
  shortNames: ['ns'],
  subresources: ['status', 'finalize'],
  verbs: ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
  defaults: defaultNamespace,
  strategy: { nameRule: dnsLabel, returnsDeleted: true, onCreate: createNamespace },
  ...selectable('status.phase'),
})

const PODS = builtin({
  group: '',
  plural: 'pods',
  kind: 'Pod',
  definition: `${CORE}Pod`,
  namespaced: true,
  shortNames: ['po'],
  categories: ['all'],
  subresources: ['status', 'eviction'],
  defaults: defaultPod,
  zeros: zeroPod,
  blank: { spec: { containers: [] } },
  strategy: { generation: true, returnsDeleted: true, onCreate: createPod, validate: validatePod },
  ...selectable(
    ...['spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName', 'spec.serviceAccountName'],
    ...['status.phase', 'status.podIP', 'status.nominatedNodeName'],
  ),
})

const CONFIG_MAPS = builtin({
  group: '',
  plural: 'configmaps',
  kind: 'ConfigMap',
  definition: `${CORE}ConfigMap`,
  namespaced: true,
  shortNames: ['cm'],
  strategy: { validate: all(validateKeys('data', 'binaryData'), immutableWhen(['data', 'binaryData'])) },
})

const SECRETS = builtin({
  group: '',
  plural: 'secrets',
  kind: 'Secret',
  definition: `${CORE}Secret`,
  namespaced: true,
  defaults: defaultSecret,
  strategy: { validate: all(validateKeys('data'), validateSecret, immutableWhen(['data'], 'type')) },
  ...selectable('type'),
})

const SERVICES = builtin({
  group: '',
  plural: 'services',
  kind: 'Service',
  definition: `${CORE}Service`,
  namespaced: true,
  shortNames: ['svc'],
  categories: ['all'],
  subresources: ['status'],
  defaults: defaultService,
  strategy: { nameRule: dns1035Label, returnsDeleted: true, onCreate: createService },
  ...selectable('spec.clusterIP', 'spec.type'),
})

const SERVICE_ACCOUNTS = builtin({
  group: '',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  definition: `${CORE}ServiceAccount`,
  namespaced: true,
  shortNames: ['sa'],
  strategy: { returnsDeleted: true },
})

const CORE_EVENTS = builtin({
  group: '',
  plural: 'events',
  kind: 'Event',
  definition: `${CORE}Event`,
  namespaced: true,
  shortNames: ['ev'],
  zeros: zeroEvent,
  fromStorage: zeroEvent,
  strategy: { validate: validateCoreEvent },
  fields: eventFieldNames('involvedObject'),
  fieldsOf: eventFields,
})

const EVENTS = builtin({
  group: 'events.k8s.io',
  plural: 'events',
  kind: 'Event',
  definition: 'io.k8s.api.events.v1.Event',
  namespaced: true,
  shortNames: ['ev'],
  storage: CORE_EVENTS.storage,
  zeros: zeroNewEvent,
  invalidAs: CORE_EVENTS,
  toStorage: eventToStorage,
  fromStorage: eventFromStorage,
  strategy: { validate: validateEvent },
  fields: eventFieldNames('regarding'),
  fieldsOf: eventFields,
})

const LEASES = builtin({
  group: 'coordination.k8s.io',
  plural: 'leases',
  kind: 'Lease',
  definition: 'io.k8s.api.coordination.v1.Lease',
  namespaced: true,
  strategy: { unconditionalUpdate: false, validate: validateLease },
})

const BUDGETS = builtin({
  group: 'policy',
  plural: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  definition: 'io.k8s.api.policy.v1.PodDisruptionBudget',
  namespaced: true,
  shortNames: ['pdb'],
  subresources: ['status'],
  strategy: { generation: true, unconditionalUpdate: false, onCreate: createBudget },
})

function admissionKind(
  kind: string,
  plural: string,
  more: Partial<Parameters<typeof builtin>[0]> = {},
): Resource {
  return builtin({
    group: 'admissionregistration.k8s.io',
    plural,
    kind,
    definition: ADMISSION + kind,
    categories: ['api-extensions'],
    strategy: { generation: true, unconditionalUpdate: false, validate: validateWebhooks },
    ...more,
  })
}

const WEBHOOKS: readonly Resource[] = [
  admissionKind('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', {
    defaults: defaultWebhooks({}),
  }),
  admissionKind('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', {
    defaults: defaultWebhooks({ reinvocationPolicy: 'Never' }),
  }),
]

/** Stored and served, but not enforced. */
const POLICIES: readonly Resource[] = [
  admissionKind('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', {
    subresources: ['status'],
    strategy: { generation: true, unconditionalUpdate: false },
  }),
  admissionKind('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', {
    strategy: { generation: true, unconditionalUpdate: false, validate: requirePolicyName },
  }),
]

function requirePolicyName(binding: KubeObject) {
  return stringAt(binding, 'spec', 'policyName') ? [] : [requiredValue('spec.policyName')]
}

/** The built-in resources without CustomResourceDefinitions, which know the registry. */
export const BUILTIN_RESOURCES: readonly Resource[] = [
  ...[NODES, NAMESPACES, PODS, CONFIG_MAPS, SECRETS, SERVICES, SERVICE_ACCOUNTS, CORE_EVENTS, EVENTS],
  ...[LEASES, BUDGETS, ...WEBHOOKS, ...POLICIES],
]
