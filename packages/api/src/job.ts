import { type Static, Type } from 'typebox'
import type { NodeUpgradeJobStatus } from './job-status.ts'
import type { ObjectMeta } from './meta.ts'
import { SPEC_RULES } from './rules.ts'
import { flag, integer, list, oneOf, rules, SECOND_BOUNDS, text } from './schema-kit.ts'

const NodeName = Type.String({ maxLength: 253 })
const Digest = Type.String({ pattern: '^sha256:[a-f0-9]{64}$', maxLength: 71 })

export const LabelSelector = Type.Object({
  matchLabels: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 63 }), {
      description: 'Labels that a node must carry with exactly these values.',
      maxProperties: 64,
    }),
  ),
  matchExpressions: list(
    Type.Object({
      key: Type.String({ description: 'The label key that the requirement is about.', maxLength: 317 }),
      operator: Type.String({ description: 'In, NotIn, Exists or DoesNotExist.', maxLength: 16 }),
      values: list(Type.String({ maxLength: 63 }), {
        description: 'The values of In and NotIn; empty for Exists and DoesNotExist.',
        maxItems: 256,
      }),
    }),
    { description: 'Requirements that a node must all meet.', maxItems: 64 },
  ),
})
export type LabelSelector = Static<typeof LabelSelector>

export const ISOLATIONS = ['None', 'Cordon'] as const
export const VERSION_POLICIES = ['UpgradeOnly', 'AllowDowngrade'] as const
export const OFFLINE_POLICIES = ['Skip', 'Queue', 'Fail'] as const
export const KEEP_CORDONED_ENDS = ['RollbackFailed', 'Failure', 'Unknown'] as const

export const StageTimeouts = Type.Object({
  checkSeconds: integer('Seconds for the checks on the node. Default 60.', { ...SECOND_BOUNDS, default: 60 }),
  downloadSeconds: integer(
    'Seconds for the download. Default: what is left of timeoutSeconds when it is 0.',
    { ...SECOND_BOUNDS, default: 0 },
  ),
  confirmSeconds: integer('Seconds to wait for a confirmation on the node. Default 86400, a day.', {
    ...SECOND_BOUNDS,
    default: 86_400,
  }),
  upgradeSeconds: integer('Seconds for back-up, stop, swap, start and health. Default 0: timeoutSeconds.', {
    ...SECOND_BOUNDS,
    default: 0,
  }),
  rollbackSeconds: integer('Seconds for a rollback. Default 300.', { ...SECOND_BOUNDS, default: 300 }),
  verifySeconds: integer(
    'Seconds in which the node must be seen Ready at the new version after its report. Default 120.',
    { ...SECOND_BOUNDS, default: 120 },
  ),
})
export type StageTimeouts = Static<typeof StageTimeouts>

export const UpgradeHubSpec = Type.Object(
  {
    component: text('What is upgraded, as the node describes it. Default edgecore.', {
      default: 'edgecore',
      maxLength: 63,
      pattern: '^[a-z][a-z0-9-]*$',
    }),
    timeouts: Type.Optional(
      Type.Object(StageTimeouts.properties, {
        description: 'The clock of each stage, in seconds.',
        default: {},
      }),
    ),
    exclude: Type.Optional(
      Type.Object(
        {
          nodeNames: list(NodeName, { description: 'Names of nodes to leave out.', maxItems: 10_000 }),
          labelSelector: Type.Optional(
            Type.Object(LabelSelector.properties, { description: 'Nodes that match are left out.' }),
          ),
        },
        { description: 'Nodes taken out of the selection.' },
      ),
    ),
    allNodes: flag('Must be true for an empty labelSelector to mean every edge node. Default false.'),
    isolation: Type.Optional(
      oneOf(ISOLATIONS, {
        description:
          'Cordon closes the node to new pods while its agent is down, never during the download. None leaves it open. Default Cordon.',
        default: 'Cordon',
      }),
    ),
    keepCordonedOn: list(
      oneOf(KEEP_CORDONED_ENDS, { description: 'An end after which the node stays cordoned.' }),
      {
        description: 'The only ends after which a node stays cordoned. Default [RollbackFailed].',
        default: ['RollbackFailed'],
        maxItems: 3,
      },
    ),
    health: Type.Optional(
      Type.Object(
        {
          minReadySeconds: integer('Seconds that the new agent must run without a restart. Default 10.', {
            minimum: 0,
            maximum: 3600,
            default: 10,
          }),
        },
        { description: 'When a new agent counts as healthy.', default: {} },
      ),
    ),
    offline: Type.Optional(
      Type.Object(
        {
          policy: Type.Optional(
            oneOf(OFFLINE_POLICIES, {
              description:
                'A node that is not Ready or does not answer: Skip ends it Skipped after timeoutSeconds, Fail ends it Failure, Queue waits ttlSeconds. Default Skip.',
              default: 'Skip',
            }),
          ),
          ttlSeconds: integer('Seconds that Queue waits. Default 86400, a day.', {
            minimum: 1,
            maximum: 31_536_000,
            default: 86_400,
          }),
        },
        { description: 'What happens to nodes that are away.', default: {} },
      ),
    ),
    versionPolicy: Type.Optional(
      oneOf(VERSION_POLICIES, {
        description: 'UpgradeOnly refuses a lower version before anything is touched. Default UpgradeOnly.',
        default: 'UpgradeOnly',
      }),
    ),
    prepareAhead: integer(
      'Number of nodes that may check and download while others upgrade. Default 0: as many as concurrency.',
      { minimum: 0, maximum: 10_000, default: 0 },
    ),
    digests: Type.Optional(
      Type.Record(Type.String(), Digest, {
        description: 'The image manifest digest by platform, such as linux/amd64 or linux/arm/v7.',
        maxProperties: 16,
      }),
    ),
  },
  { description: "What Upgrade Hub adds to KubeEdge's fields.", default: {} },
)
export type UpgradeHubSpec = Static<typeof UpgradeHubSpec>

export const NodeUpgradeJobSpec = Type.Object(
  {
    version: text('The version to upgrade to, such as v1.12.0.', { maxLength: 128 }),
    timeoutSeconds: integer(
      'Seconds that each of the two phases, prepare and proceed, may take on a node. Default 300; 0 means 300.',
      { default: 300 },
    ),
    nodeNames: list(NodeName, {
      description: 'The nodes to upgrade, by name. Either this or labelSelector.',
      maxItems: 10_000,
    }),
    labelSelector: Type.Optional(
      Type.Object(LabelSelector.properties, {
        description: 'The nodes to upgrade, by label. Either this or nodeNames.',
      }),
    ),
    image: text(
      'The installation image. A tag is replaced by the version; a digest wins. Default kubeedge/installation-package.',
      { default: 'kubeedge/installation-package', maxLength: 512 },
    ),
    imageDigestGatter: Type.Optional(
      Type.Object(
        {
          amd64: text('Digest of the image on amd64, sha256:…', { maxLength: 80 }),
          arm64: text('Digest of the image on arm64, sha256:…', { maxLength: 80 }),
          value: text('Digest of the image on every platform, sha256:…', { maxLength: 80 }),
          registryAPI: Type.Optional(
            Type.Object(
              {
                host: Type.String({ description: 'The registry to ask.', maxLength: 253 }),
                token: Type.String({ description: 'The token to ask with.', maxLength: 8192 }),
              },
              { description: 'Not served: give the digest itself.' },
            ),
          ),
        },
        { description: 'The digest that the image must have.' },
      ),
    ),
    concurrency: integer('Number of nodes that upgrade at the same time. Default 1; 0 means 1.', {
      default: 1,
    }),
    checkItems: list(Type.String({ maxLength: 63 }), {
      description: 'What is checked on the node first: cpu, mem, disk. Each fails above 80 percent use.',
      maxItems: 16,
    }),
    failureTolerate: text(
      'Ratio of failed nodes, from 0 to 1 as text, above which the job fails and no further node starts. Default "0.1".',
      { default: '0.1', maxLength: 32 },
    ),
    requireConfirmation: flag(
      'Wait on each node for `edgeadm ctl confirm` before the node is taken. Default false.',
    ),
    upgradeTool: text('The tool that upgrades. Default keadm.', { default: 'keadm', maxLength: 63 }),
    upgradeHub: Type.Optional(UpgradeHubSpec),
  },
  { description: 'What to upgrade, and how. Immutable.', ...rules(...SPEC_RULES) },
)
export type NodeUpgradeJobSpec = Static<typeof NodeUpgradeJobSpec>

export const JobControl = Type.Object(
  {
    paused: flag('No further node prepares or is taken; what runs finishes. Default false.'),
    cancelled: flag(
      'Nodes that have not been told to proceed end Cancelled; running ones are waited for. Cannot be taken back.',
    ),
    adopt: flag('Run a job that another controller had begun. Default false.'),
  },
  { description: 'The mutable half: what an operator may change while the job runs.' },
)
export type JobControl = Static<typeof JobControl>

export const JOB_VERSIONS = ['v1alpha1', 'v1alpha2'] as const

/** `operations.kubeedge.io` NodeUpgradeJob in either version: the schema is the same. */
export interface NodeUpgradeJob {
  readonly apiVersion: `operations.kubeedge.io/${(typeof JOB_VERSIONS)[number]}`
  readonly kind: 'NodeUpgradeJob'
  readonly metadata: ObjectMeta
  readonly spec?: NodeUpgradeJobSpec
  readonly control?: JobControl
  readonly status?: NodeUpgradeJobStatus
}
