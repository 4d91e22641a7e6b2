import type { TaskPhase } from '@upgrade-hub/api'

/** What one reason means for a task and for the job that it belongs to. */
export interface ReasonRule {
  /** Where the task stands with it. `Pending` and `InProgress` are no ends. */
  readonly phase: TaskPhase
  /** How the attempt ended, in the wire's words and our `Skipped` and `Unknown`; empty where it did not end. */
  readonly outcome: string
  /** The same attempt may be tried again by itself. */
  readonly retryable: boolean
  /** The attempt is spent. */
  readonly usesAttempt: boolean
  /** Whether it counts as failed: at once, only in the final ratio (nothing was touched), or not at all. */
  readonly counts: 'always' | 'atEnd' | 'never'
  /** For a person, when nobody said it better. KubeEdge's own words where it has some. */
  readonly sentence: string
}

type Row = readonly [ReasonRule['phase'], string, 'retry' | 'spent' | 'free', ReasonRule['counts'], string]

/** KubeEdge's sentence for a job whose failures exceed the tolerance (nodetask/calculation.go). */
export function toleranceSentence(failed: number, of: number): string {
  return `the number of failed nodes is ${failed}/${of}, which exceeds the failure tolerance threshold`
}

const ROWS = {
  // the hub, before anything is touched
  NotFound: ['Failure', 'RefusedBeforeChange', 'free', 'atEnd', 'failed to get node'],
  NotEdge: ['Failure', 'RefusedBeforeChange', 'free', 'atEnd', 'the node is not an edge node'],
  Offline: ['Skipped', 'Skipped', 'free', 'atEnd', 'the node is not ready'],
  AlreadyAtVersion: ['Skipped', 'Skipped', 'free', 'never', 'the node already runs the version'],
  Excluded: ['Skipped', 'Skipped', 'free', 'never', 'the job excludes the node'],
  NotPlanned: ['Skipped', 'Skipped', 'free', 'never', 'the task came after the plan of the job was complete'],
  Stopped: ['Skipped', 'Skipped', 'free', 'never', 'the job stopped before the turn of the node came'],
  ChangedSince: [
    'Skipped',
    'Skipped',
    'free',
    'never',
    'somebody has changed the node since it was upgraded',
  ],
  NoBackup: ['Failure', 'RefusedBeforeChange', 'free', 'atEnd', 'the node has nothing to go back to'],
  NodeGone: [
    'Failure',
    'FailedBeforeChange',
    'spent',
    'always',
    'the node was deleted or replaced by another of its name',
  ],

  // the hub, while it waits
  Unreachable: ['Pending', '', 'retry', 'never', 'the node does not answer'],
  WaitingConfirmation: ['Pending', '', 'free', 'never', 'the node waits for `edgeadm ctl confirm`'],
  Busy: ['Pending', '', 'retry', 'never', 'another upgrade holds the node'],
  PermissionExpired: ['Pending', '', 'retry', 'never', 'the permission to proceed came too late to the node'],
  PreparedStale: [
    'Pending',
    '',
    'retry',
    'never',
    'what was prepared is no longer valid and is prepared again',
  ],
  Draining: ['Pending', '', 'free', 'never', 'pods are asked to go from the node'],
  DrainRefused: ['Failure', 'FailedBeforeChange', 'spent', 'always', 'pods on the node may not be deleted'],
  DrainTimeout: ['Failure', 'FailedBeforeChange', 'spent', 'always', 'pods did not go from the node in time'],
  WindowClosed: ['Pending', '', 'retry', 'never', 'the window of the node is closed'],
  HoldLost: ['InProgress', '', 'free', 'never', 'our mark on the node was removed by somebody else'],
  TimedOut: ['Unknown', 'Unknown', 'spent', 'always', 'The node task has timed out'],
  NotVerified: [
    'Unknown',
    'Unknown',
    'spent',
    'always',
    'the node reported success but was not seen Ready at the version in time',
  ],

  // the edge refuses for good
  BadRequest: [
    'Failure',
    'RefusedBeforeChange',
    'free',
    'atEnd',
    'the node cannot make sense of the command',
  ],
  Unsupported: ['Failure', 'RefusedBeforeChange', 'free', 'atEnd', 'the node does not know this command'],
  UnsupportedTool: [
    'Failure',
    'RefusedBeforeChange',
    'free',
    'atEnd',
    'the node does not have the upgrade tool',
  ],
  UnknownComponent: [
    'Failure',
    'RefusedBeforeChange',
    'free',
    'atEnd',
    'the node does not have the component',
  ],
  PolicyRefused: ['Failure', 'RefusedBeforeChange', 'free', 'atEnd', 'the policy of the node forbids it'],
  NodeReplaced: [
    'Failure',
    'RefusedBeforeChange',
    'free',
    'atEnd',
    'the command was meant for an earlier node of this name',
  ],
  StaleEpoch: [
    'Failure',
    'RefusedBeforeChange',
    'free',
    'atEnd',
    'the node has seen a newer command than this',
  ],
  Downgrade: [
    'Failure',
    'RefusedBeforeChange',
    'free',
    'atEnd',
    'the version is lower than the one that runs',
  ],
  WrongPlatform: [
    'Failure',
    'RefusedBeforeChange',
    'free',
    'atEnd',
    'there is no image for the platform of the node',
  ],

  // the edge fails before it stops the agent
  CheckFailed: ['Failure', 'FailedBeforeChange', 'spent', 'always', 'a check on the node failed'],
  CheckTimeout: ['Failure', 'FailedBeforeChange', 'spent', 'always', 'the checks on the node took too long'],
  NoSpace: ['Failure', 'FailedBeforeChange', 'spent', 'always', 'the node has not enough free space'],
  PullFailed: ['Failure', 'FailedBeforeChange', 'spent', 'always', 'the image could not be pulled'],
  DownloadTimeout: ['Failure', 'FailedBeforeChange', 'spent', 'always', 'the download took too long'],
  DigestMismatch: [
    'Failure',
    'FailedBeforeChange',
    'spent',
    'always',
    'the image is not the one that was asked for',
  ],
  TagMoved: [
    'Failure',
    'FailedBeforeChange',
    'spent',
    'always',
    'the tag leads to another image than on the first node',
  ],
  BadArchive: [
    'Failure',
    'FailedBeforeChange',
    'spent',
    'always',
    'the image is damaged or not an installation package',
  ],
  VersionMismatch: [
    'Failure',
    'FailedBeforeChange',
    'spent',
    'always',
    'the program in the image has another version',
  ],
  ConfirmTimeout: [
    'Failure',
    'FailedBeforeChange',
    'spent',
    'always',
    'nobody confirmed the upgrade on the node in time',
  ],
  BackupFailed: ['Failure', 'FailedBeforeChange', 'spent', 'always', 'the back-up on the node failed'],
  FailedBeforeChange: [
    'Failure',
    'FailedBeforeChange',
    'spent',
    'always',
    'the upgrade failed before anything was changed',
  ],
  Cancelled: ['Cancelled', 'Cancelled', 'free', 'never', 'the upgrade was cancelled'],

  // the edge fails after it, and the old agent runs again
  StopFailed: ['Failure', 'RolledBack', 'spent', 'always', 'the agent could not be stopped'],
  SwapFailed: ['Failure', 'RolledBack', 'spent', 'always', 'the new program could not be put in place'],
  StartFailed: ['Failure', 'RolledBack', 'spent', 'always', 'the new agent did not start'],
  HealthFailed: ['Failure', 'RolledBack', 'spent', 'always', 'the new agent was not healthy'],
  UpgradeTimeout: ['Failure', 'RolledBack', 'spent', 'always', 'the upgrade on the node took too long'],
  RolledBack: [
    'Failure',
    'RolledBack',
    'spent',
    'always',
    'the upgrade failed and the old version runs again',
  ],
  RollbackFailed: [
    'Failure',
    'RollbackFailed',
    'spent',
    'always',
    'the upgrade failed and so did the way back',
  ],
  StateUnreadable: [
    'Unknown',
    'StateUnreadable',
    'spent',
    'always',
    'the node cannot tell how its upgrade ended',
  ],

  Upgraded: ['Successful', 'Succeeded', 'spent', 'never', 'the node runs the version'],
} as const satisfies Record<string, Row>

/** Every reason that a task can carry. */
export type Reason = keyof typeof ROWS

/**
 * The one table `reason → phase, outcome, retryable, uses an attempt, counts`. A reason that the policy of a job turns into
 * another phase (`Offline` with policy Fail) says so where it is used; what counts is asked of a task's phase first.
 */
export const REASONS: Readonly<Record<Reason, ReasonRule>> = Object.fromEntries(
  Object.entries(ROWS).map(([reason, row]) => [reason, ruleOf(row)]),
) as Record<Reason, ReasonRule>

/** True for a word of the table: what an edge says is not trusted to be one. */
export function isReason(word: string | undefined): word is Reason {
  return word !== undefined && Object.hasOwn(ROWS, word)
}

function ruleOf([phase, outcome, use, counts, sentence]: Row): ReasonRule {
  return { phase, outcome, retryable: use === 'retry', usesAttempt: use === 'spent', counts, sentence }
}
