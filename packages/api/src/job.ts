import { type Static, Type } from 'typebox'
import type { ObjectMeta } from './meta.ts'
import { SPEC_RULES } from './rules.ts'
import { counter, flag, integer, list, oneOf, rules, SECOND_BOUNDS, text } from './schema-kit.ts'

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
      Type.Object(StageTimeouts.properties, { description: 'The clock of each stage, in seconds.', default: {} }),
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
    concurrency: integer('Number of nodes that upgrade at the same time. Default 1; 0 means 1.', { default: 1 }),
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

const Condition = Type.Object({
  type: Type.String({ description: 'Accepted, Progressing, Paused, Complete, Failed or Finished.', maxLength: 316 }),
  status: oneOf(['True', 'False', 'Unknown'], { description: 'True, False or Unknown.' }),
  observedGeneration: counter('The generation of the job that this was said of.'),
  lastTransitionTime: Type.String({ description: 'When the status last changed.', format: 'date-time' }),
  reason: Type.String({ description: 'One word for a program.', maxLength: 1024 }),
  message: Type.String({ description: 'A sentence for a person.', maxLength: 32_768 }),
})
export type Condition = Static<typeof Condition>

const ActionFlowEntry = Type.Object({
  action: text('Check, WaitingConfirmation, BackUp, Upgrade or RollBack.'),
  status: text('True when the action succeeded, False when it failed.'),
  reason: text('Why it failed.'),
  time: text('When it ended, RFC 3339.'),
})
export type ActionFlowEntry = Static<typeof ActionFlowEntry>

export const NodeStatusRow = Type.Object({
  nodeName: text('The node.'),
  phase: text('Pending, InProgress, Successful, Failure, Unknown, Skipped or Cancelled.'),
  reason: text('Why, in a sentence.'),
  outcome: text('Why, in one word.'),
  currentVersion: text('The version that the node runs.'),
  historicVersion: text('The version that it ran before.'),
  state: text("KubeEdge's older word for the phase, kept for stored jobs."),
  event: text("KubeEdge's older field, kept for stored jobs."),
  action: text("KubeEdge's older field, kept for stored jobs."),
  time: text("KubeEdge's older field, kept for stored jobs."),
  actionFlow: list(ActionFlowEntry, { description: 'What the node has done, in order.' }),
})
export type NodeStatusRow = Static<typeof NodeStatusRow>

const HistoryRow = Type.Object({
  nodeName: text('The node.'),
  state: text('"", upgrading or completed.'),
  history: Type.Optional(
    Type.Object(
      {
        historyID: text('The attempt, {task}.{attempt}.'),
        fromVersion: text('The version before.'),
        toVersion: text('The version asked for.'),
        result: text(
          'upgrade_success, upgrade_failed_rollback_success, upgrade_failed_rollback_failed, or empty where none is true.',
        ),
        reason: text('Why, in a sentence.'),
        upgradeTime: text('When it ended, RFC 3339.'),
      },
      { description: 'The last upgrade of the node by this job.' },
    ),
  ),
})
export type HistoryRow = Static<typeof HistoryRow>

const Summary = Type.Object(
  {
    total: integer('Nodes of the job.'),
    pending: integer('Nodes that wait or prepare.'),
    inProgress: integer('Nodes that were told to proceed.'),
    successful: integer('Nodes proven at the new version.'),
    failed: integer('Nodes that failed.'),
    unknown: integer('Nodes whose end is not known.'),
    skipped: integer('Nodes left out or cancelled.'),
    rolledBack: integer('Failed nodes that provably run the old version again.'),
    offline: integer('Pending nodes that do not answer.'),
    late: integer('Results that came after their node had ended.'),
  },
  { description: 'The job in numbers; pending to skipped add up to total.' },
)
export type Summary = Static<typeof Summary>

export const NodeUpgradeJobStatus = Type.Object(
  {
    phase: text('"", InProgress, Completed or Failure.'),
    reason: text('Why, in a sentence.'),
    nodeStatus: list(NodeStatusRow, {
      description: 'At most 256 nodes, those that need attention first; the whole list: kubectl get nut.',
    }),
    state: text('"", upgrading or completed.'),
    status: list(HistoryRow, { description: "The nodes in the words of KubeEdge's proposal; at most 256." }),
    currentVersion: text("KubeEdge's older field, kept for stored jobs."),
    historicVersion: text("KubeEdge's older field, kept for stored jobs."),
    time: text("KubeEdge's older field, kept for stored jobs."),
    event: text("KubeEdge's older field, kept for stored jobs."),
    action: text("KubeEdge's older field, kept for stored jobs."),
    observedGeneration: counter('The generation that the whole status was worked out from.'),
    conditions: list(Condition, {
      description: 'Accepted, Progressing, Paused and, last, one of Complete and Failed with Finished.',
      maxItems: 16,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    } as { description: string }),
    summary: Type.Optional(Summary),
    progress: text('Ended nodes of all, such as 12/20.'),
    image: Type.Optional(
      Type.Object(
        { reference: text('What is pulled.'), digest: text('The index digest that the first node saw; pinned.') },
        { description: 'The image of the job.' },
      ),
    ),
    startTime: text('When the job was accepted.'),
    completionTime: text('When the job ended.'),
    plan: Type.Optional(
      Type.Object(
        { total: integer('Tasks of the job.'), hash: text('Hash of the sorted task names.', { maxLength: 64 }) },
        { description: 'Written when every task exists: the membership is frozen.' },
      ),
    ),
    releasing: list(
      Type.Object({
        task: Type.String({ description: 'The task.', maxLength: 253 }),
        attempt: Type.Integer({ description: 'Its attempt.', format: 'int32' }),
      }),
      { description: 'Nodes that are being taken: recorded before the node is touched.', maxItems: 10_000 },
    ),
    omittedNodes: integer('Nodes beyond the rows of nodeStatus.'),
  },
  { description: 'What has become of it.' },
)
export type NodeUpgradeJobStatus = Static<typeof NodeUpgradeJobStatus>

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
