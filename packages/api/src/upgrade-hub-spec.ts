import { type Static, Type } from 'typebox'
import { Drain } from './drain.ts'
import { HealthProbes } from './probes.ts'
import { amount, flag, integer, list, oneOf, text } from './schema-kit.ts'
import { LabelSelector, NodeName } from './selector.ts'
import { StageTimeouts } from './timeouts.ts'
import { Waves } from './waves.ts'
import { MaintenanceWindow } from './window.ts'

const Digest = Type.String({ pattern: '^sha256:[a-f0-9]{64}$', maxLength: 71 })

export const ISOLATIONS = ['None', 'Cordon', 'Drain'] as const
export const VERSION_POLICIES = ['UpgradeOnly', 'AllowDowngrade'] as const
export const BUSY_POLICIES = ['Wait', 'Skip'] as const
export const OFFLINE_POLICIES = ['Skip', 'Queue', 'Fail'] as const
export const ON_FAILURE = ['Stop', 'Pause', 'RollBack'] as const
export const KEEP_CORDONED_ENDS = ['RollbackFailed', 'Failure', 'Unknown'] as const

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
          'Cordon closes the node to new pods while its agent is down, never during the download. Drain also evicts its pods first. None leaves it open. Default Cordon.',
        default: 'Cordon',
      }),
    ),
    drain: Type.Optional(Drain),
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
          probes: HealthProbes,
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
    busyPolicy: Type.Optional(
      oneOf(BUSY_POLICIES, {
        description: 'A node that another upgrade holds: Wait until it is free, or Skip it. Default Wait.',
        default: 'Wait',
      }),
    ),
    versionPolicy: Type.Optional(
      oneOf(VERSION_POLICIES, {
        description: 'UpgradeOnly refuses a lower version before anything is touched. Default UpgradeOnly.',
        default: 'UpgradeOnly',
      }),
    ),
    maxConcurrent: amount(
      'Nodes that upgrade at the same time, as a number or as a percentage of the nodes of the job such as "10%" (rounded down, at least 1). Takes the place of concurrency. Default: concurrency.',
    ),
    maxUnavailable: amount(
      'Nodes of the job that may be down at the same time, as a number or a percentage (rounded down, at least 1). Counts those that upgrade, and those that are not Ready or cordoned by somebody else. Default: no such limit.',
    ),
    prepareAhead: amount(
      'Nodes that may check and download while others upgrade, as a number or a percentage (rounded down, at least 1). Default 0: as many as may upgrade at the same time.',
      { minimum: 0 },
    ),
    waves: Waves,
    window: Type.Optional(MaintenanceWindow),
    progressDeadlineSeconds: integer(
      'Seconds without any node beginning or ending its upgrade after which the job counts as stuck, and onFailure applies. Pauses and other waits that are meant do not count. Default: no deadline.',
      { minimum: 60, maximum: 31_536_000 },
    ),
    onFailure: Type.Optional(
      oneOf(ON_FAILURE, {
        description:
          'When more nodes fail than failureTolerate allows, or progressDeadlineSeconds is over. Stop starts no further node and ends the job when the running ones have ended. Pause waits for a person, who may cancel, raise control.retry or raise control.failureTolerate. RollBack stops, and then brings the nodes that were upgraded back to the version that they ran before. Default Stop.',
        default: 'Stop',
      }),
    ),
    retry: Type.Optional(
      Type.Object(
        {
          limit: integer(
            'Times that a failed node is tried again by itself, with a new attempt. A node whose rollback failed never is. Default 0.',
            { minimum: 0, maximum: 10, default: 0 },
          ),
          backoffSeconds: integer(
            'Seconds before the first retry; doubled for each further one, up to an hour. Default 60.',
            { minimum: 1, maximum: 3600, default: 60 },
          ),
        },
        { description: 'What happens to a node that failed and runs its old version.', default: {} },
      ),
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
