import { type Static, Type } from 'typebox'
import { counter, integer, list, oneOf, text } from './schema-kit.ts'
import { WaveStatus } from './waves.ts'

const Condition = Type.Object({
  type: Type.String({
    description: 'Accepted, Progressing, Paused, Complete, Failed or Finished.',
    maxLength: 316,
  }),
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
    currentWave: text('The wave that is on.', { maxLength: 63 }),
    waves: list(WaveStatus, { description: 'How far each wave is.', maxItems: 33 }),
    image: Type.Optional(
      Type.Object(
        {
          reference: text('What is pulled.'),
          digest: text('The index digest that the first node saw; pinned.'),
        },
        { description: 'The image of the job.' },
      ),
    ),
    startTime: text('When the job was accepted.'),
    completionTime: text('When the job ended.'),
    plan: Type.Optional(
      Type.Object(
        {
          total: integer('Tasks of the job.'),
          hash: text('Hash of the sorted task names.', { maxLength: 64 }),
        },
        { description: 'Written when every task exists: the membership is frozen.' },
      ),
    ),
    rollback: Type.Optional(
      Type.Object(
        {
          reason: text('Why the job goes back.', { maxLength: 64 }),
          total: integer('Nodes that go back.'),
          hash: text('Hash of the sorted names of their tasks.', { maxLength: 64 }),
          successful: integer('Nodes that provably run their old version again.'),
          failed: integer('Nodes that could not go back, or of which it is not known.'),
        },
        { description: 'The way back of the nodes that were upgraded: onFailure RollBack after a breach.' },
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
