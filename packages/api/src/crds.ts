import { JobControl } from './control.ts'
import { EdgeIdentitySpec } from './identity.ts'
import { JOB_VERSIONS, NodeUpgradeJobSpec } from './job.ts'
import { NodeUpgradeJobStatus } from './job-status.ts'
import { HUB_GROUP, KUBEEDGE_GROUP } from './names.ts'
import { JOB_RULES } from './rules.ts'
import { type StructuralSchema, toStructural } from './structural.ts'
import { TaskSpec, TaskStatus } from './task.ts'

interface PrinterColumn {
  name: string
  type: string
  jsonPath: string
  priority?: number
}

/** apiextensions.k8s.io/v1 CustomResourceDefinition, as much of it as we emit. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly group: string
    readonly scope: 'Cluster'
    readonly names: Readonly<Record<string, unknown>>
    readonly conversion?: { readonly strategy: 'None' }
    readonly versions: readonly CrdVersion[]
  }
}

export interface CrdVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly schema: { readonly openAPIV3Schema: StructuralSchema }
  readonly subresources?: { readonly status: object }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

/** Tells our CRDs from KubeEdge's of the same name. */
const LABELS = { 'app.kubernetes.io/part-of': 'upgrade-hub' }
const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

const column = (name: string, jsonPath: string, type = 'string', priority = 0): PrinterColumn => ({
  name,
  type,
  jsonPath,
  ...(priority > 0 ? { priority } : {}),
})

function root(description: string, properties: Record<string, StructuralSchema>): StructuralSchema {
  return { type: 'object', description, properties: { ...TYPE_META, ...properties } }
}

const TYPE_META: Record<string, StructuralSchema> = {
  apiVersion: { type: 'string', description: 'The versioned schema of this object.' },
  kind: { type: 'string', description: 'The kind of this object.' },
  metadata: { type: 'object' },
}

const jobSchema: StructuralSchema = {
  ...root('Upgrades the edge agent on a set of nodes.', {
    spec: toStructural(NodeUpgradeJobSpec, 'spec'),
    control: toStructural(JobControl, 'control'),
    status: toStructural(NodeUpgradeJobStatus, 'status'),
  }),
  'x-kubernetes-validations': JOB_RULES,
}

const jobColumns = [
  column('Version', '.spec.version'),
  column('Phase', '.status.phase'),
  column('Progress', '.status.progress'),
  column('Failed', '.status.summary.failed', 'integer'),
  column('Wave', '.status.currentWave'),
  column('Reason', '.status.conditions[?(@.type=="Finished")].reason'),
  column('In-Flight', '.status.summary.inProgress', 'integer', 1),
  column('Offline', '.status.summary.offline', 'integer', 1),
  AGE,
]

/** Both versions carry the same union schema, so nothing has to be converted and nothing is lost. */
export const nodeUpgradeJobCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `nodeupgradejobs.${KUBEEDGE_GROUP}`, labels: LABELS },
  spec: {
    group: KUBEEDGE_GROUP,
    scope: 'Cluster',
    names: {
      kind: 'NodeUpgradeJob',
      listKind: 'NodeUpgradeJobList',
      plural: 'nodeupgradejobs',
      singular: 'nodeupgradejob',
      shortNames: ['nuj'],
      categories: ['upgradehub'],
    },
    conversion: { strategy: 'None' },
    versions: JOB_VERSIONS.map((name) => ({
      name,
      served: true,
      storage: name === 'v1alpha2',
      schema: { openAPIV3Schema: jobSchema },
      subresources: { status: {} },
      additionalPrinterColumns: jobColumns,
    })),
  },
}

export const nodeUpgradeTaskCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `nodeupgradetasks.${HUB_GROUP}`, labels: LABELS },
  spec: {
    group: HUB_GROUP,
    scope: 'Cluster',
    names: {
      kind: 'NodeUpgradeTask',
      listKind: 'NodeUpgradeTaskList',
      plural: 'nodeupgradetasks',
      singular: 'nodeupgradetask',
      shortNames: ['nut'],
      categories: ['upgradehub'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            ...root('The upgrade of one node by one job.', {
              spec: toStructural(TaskSpec, 'spec'),
              status: toStructural(TaskStatus, 'status'),
            }),
            required: ['spec'],
          },
        },
        subresources: { status: {} },
        additionalPrinterColumns: [
          column('Node', '.spec.nodeName'),
          column('Phase', '.status.phase'),
          column('Stage', '.status.stage'),
          column('Attempt', '.status.attempt', 'integer'),
          column('From', '.status.fromVersion'),
          column('To', '.spec.version'),
          column('Reason', '.status.reason'),
          AGE,
        ],
        selectableFields: ['.spec.jobName', '.spec.nodeName', '.status.phase', '.status.active'].map(
          (jsonPath) => ({
            jsonPath,
          }),
        ),
      },
    ],
  },
}

export const edgeIdentityCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `edgeidentities.${HUB_GROUP}`, labels: LABELS },
  spec: {
    group: HUB_GROUP,
    scope: 'Cluster',
    names: {
      kind: 'EdgeIdentity',
      listKind: 'EdgeIdentityList',
      plural: 'edgeidentities',
      singular: 'edgeidentity',
      categories: ['upgradehub'],
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            ...root('The key and the machine that speak for a node.', {
              spec: toStructural(EdgeIdentitySpec, 'spec'),
            }),
            required: ['spec'],
          },
        },
        additionalPrinterColumns: [
          column('Machine', '.spec.machineID'),
          column('Enrolled', '.spec.enrolledAt', 'date'),
          column('Expires', '.spec.notAfter'),
          AGE,
        ],
      },
    ],
  },
}

export const CRDS: readonly CustomResourceDefinition[] = [
  nodeUpgradeJobCrd,
  nodeUpgradeTaskCrd,
  edgeIdentityCrd,
]
