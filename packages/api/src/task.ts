import { type Static, Type } from 'typebox'
import type { ObjectMeta } from './meta.ts'
import { HealthProbes } from './probes.ts'
import { flag, integer, list, oneOf, rules, text } from './schema-kit.ts'
import { EDGE_RULES, TASK_SPEC_RULES, TASK_STATUS_RULES } from './task-rules.ts'
import { StageTimeouts } from './timeouts.ts'
import { VERSION_POLICIES } from './upgrade-hub-spec.ts'

export const TASK_PHASES = [
  'Pending',
  'InProgress',
  'Successful',
  'Failure',
  'Unknown',
  'Skipped',
  'Cancelled',
] as const
export type TaskPhase = (typeof TASK_PHASES)[number]
export const STAGES = ['Prepare', 'Proceed', 'Release'] as const
export type Stage = (typeof STAGES)[number]
export const VERBS = ['prepare', 'proceed', 'cancel'] as const
export type Verb = (typeof VERBS)[number]
export const PURPOSES = ['Upgrade', 'RollBack'] as const
export const VERDICTS = ['Run', 'Refused'] as const

const word = (description: string, maxLength = 64) => text(description, { maxLength })
const sentence = (description: string) => text(description, { maxLength: 1024 })
const version = (description: string) => text(description, { maxLength: 256 })
const time = (description: string) => text(description, { maxLength: 40 })
const attempt = (description: string) =>
  Type.Integer({ description, format: 'int32', minimum: 0, maximum: 1_000_000 })

const Platform = Type.Object(
  { os: word('Operating system.'), arch: word('Architecture.'), variant: word('Variant, such as v7.') },
  { description: 'The platform of the node.' },
)

const Answer = Type.Object(
  {
    seq: integer('The intent that is answered.', { minimum: 0 }),
    value: word('prepared, refused, done, tooLate, tombstoned or stale.'),
    code: word('Why it was refused, in one word.'),
    reason: sentence('Why it was refused, in a sentence.'),
    indexDigest: text('The digest that the tag led to.', { maxLength: 80 }),
    fromVersion: version('The version that runs.'),
    platform: Type.Optional(Platform),
    timeZone: word('The time zone of its clock, by its IANA name.'),
  },
  { description: 'The last answer to an intent.' },
)

const EdgeAction = Type.Object({
  action: word('Check, WaitingConfirmation, BackUp, Upgrade or RollBack.'),
  succ: flag('Whether it succeeded.'),
  reason: text('Why it failed.', { maxLength: 512 }),
  time: time('When it ended, by the clock of the node.'),
})
export type EdgeAction = Static<typeof EdgeAction>

const EdgeResult = Type.Object({
  attempt: attempt('The attempt.'),
  outcome: word(
    'Succeeded, RefusedBeforeChange, FailedBeforeChange, Cancelled, RolledBack, RollbackFailed or StateUnreadable.',
  ),
  code: word('Why, in one word.'),
  from: version('The version before.'),
  to: version('The version asked for.'),
  runningVersion: version('The version that the node proved to run.'),
  finishedAt: time('When it ended, by the clock of the node.'),
  reason: sentence('Why, in a sentence.'),
})
export type EdgeResult = Static<typeof EdgeResult>

export const TaskEdge = Type.Object(
  {
    attempt: attempt('The attempt that the edge speaks of.'),
    seq: Type.Integer({ description: 'Number of its last journal record.', format: 'int64', minimum: 0 }),
    step: word('The step it is at, E0 to E12.', 16),
    percent: integer('Percent of the step.', { minimum: 0, maximum: 100 }),
    answer: Type.Optional(Answer),
    actions: list(EdgeAction, { description: 'What this attempt has done, in order.', maxItems: 12 }),
    results: list(EdgeResult, {
      description: 'The first stored result of each attempt; never changed.',
      maxItems: 16,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['attempt'],
    } as { description: string }),
    late: list(EdgeResult, {
      description: 'Results that differ from the stored one or came too late.',
      maxItems: 8,
    }),
    probe: Type.Optional(
      Type.Object(
        {
          version: version('The version that answered.'),
          bootID: word('The boot it was asked in.'),
          time: time('When.'),
        },
        { description: 'What the edge saw when it asked the agent for its version.' },
      ),
    ),
    logTail: text('The end of the log of a failed attempt.', { maxLength: 8192 }),
  },
  { description: 'What the edge says. Written by the channel only.', ...rules(...EDGE_RULES) },
)
export type TaskEdge = Static<typeof TaskEdge>

const TaskAttempt = Type.Object({
  attempt: attempt('The attempt.'),
  outcome: word('How it ended; empty while it runs.'),
  reason: sentence('Why.'),
  from: version('The version before.'),
  to: version('The version asked for.'),
  time: time('When it ended, in API-server time.'),
})
export type TaskAttempt = Static<typeof TaskAttempt>

export const Intent = Type.Object(
  {
    seq: integer('Rises with every intent.', { minimum: 0 }),
    verb: Type.Optional(oneOf(VERBS, { description: 'prepare, proceed or cancel.' })),
    epoch: integer('The take of the node that a proceed belongs to.', { minimum: 0 }),
    notAfter: time('End of the permission of a proceed, in API-server time.'),
    imageDigest: text('The digest that a prepare must find.', { maxLength: 80 }),
  },
  { description: 'What is wanted of the node; the channel sends it until it is answered.' },
)
export type Intent = Static<typeof Intent>

export const TaskStatus = Type.Object(
  {
    phase: oneOf(TASK_PHASES, {
      description: 'Pending, InProgress, Successful, Failure, Unknown, Skipped or Cancelled.',
      default: 'Pending',
    }),
    active: word('"true" from the first intent to the end, and while a cancel is unanswered.', 8),
    stage: Type.Optional(oneOf(STAGES, { description: 'Prepare, Proceed or Release.' })),
    attempt: integer('The attempt, from 1; 0 before the first.', { minimum: 0, maximum: 1_000_000 }),
    reason: word('Why it stands where it does, in one word.'),
    message: sentence('Why it stands where it does, in a sentence.'),
    intent: Type.Optional(Intent),
    hold: time('When the node was taken; for the eye, the node itself is what counts.'),
    deadline: time('When waiting for the edge ends, in API-server time.'),
    startTime: time('When the attempt began.'),
    completionTime: time('When the task ended.'),
    fromVersion: version('The version before.'),
    toVersion: version('The version asked for.'),
    outcome: word('How it ended, in one word.'),
    retried: integer('As many of control.retry as this task has had.', { minimum: 0, maximum: 16 }),
    attempts: list(TaskAttempt, { description: 'How each attempt ended.', maxItems: 16 }),
    edge: Type.Optional(TaskEdge),
  },
  { description: 'What has become of it.', default: { phase: 'Pending' }, ...rules(...TASK_STATUS_RULES) },
)
export type TaskStatus = Static<typeof TaskStatus>

export const TaskSpec = Type.Object(
  {
    owner: Type.Object(
      {
        apiVersion: Type.String({ description: 'Of the owner.', maxLength: 128 }),
        kind: Type.String({ description: 'Of the owner.', maxLength: 64 }),
        name: Type.String({ description: 'Of the owner.', maxLength: 253 }),
        uid: Type.String({ description: 'Of the owner.', maxLength: 64 }),
      },
      { description: 'The job that this belongs to.' },
    ),
    jobName: Type.String({ description: 'The name of the job.', maxLength: 253 }),
    jobSpecHash: Type.String({ description: 'Hash of the spec of the job.', maxLength: 64 }),
    nodeName: Type.String({ description: 'The node.', maxLength: 253 }),
    nodeUID: text('The node object that was chosen; empty when there was none.', { maxLength: 64 }),
    purpose: oneOf(PURPOSES, { description: 'Upgrade or RollBack.' }),
    rollbackOf: text('The task that is taken back.', { maxLength: 253 }),
    component: Type.String({ description: 'What is upgraded.', maxLength: 63 }),
    order: Type.Integer({ description: 'Its place in the job, from 0.', format: 'int32', minimum: 0 }),
    wave: integer('Its wave, from 0.', { minimum: 0 }),
    verdict: oneOf(VERDICTS, { description: 'Run, or Refused before anything was touched.' }),
    reason: word('Why it was refused, in one word.'),
    message: sentence('Why it was refused, in a sentence.'),
    tool: Type.String({ description: 'The upgrade tool.', maxLength: 63 }),
    version: Type.String({ description: 'The version, in canonical form.', maxLength: 128 }),
    image: Type.String({ description: 'The image to pull.', maxLength: 700 }),
    digests: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 80 }), {
        description: 'Manifest digests by platform.',
        maxProperties: 16,
      }),
    ),
    registryAPI: Type.Optional(
      Type.Object(
        {
          host: Type.String({ description: 'The registry to ask.', maxLength: 253 }),
          token: Type.String({ description: 'The bearer token to ask with.', maxLength: 8192 }),
        },
        { description: 'Who else must say that the image has this digest.' },
      ),
    ),
    checkItems: list(Type.String({ maxLength: 16 }), { description: 'What is checked first.', maxItems: 16 }),
    requireConfirmation: flag('Wait on the node for a confirmation.'),
    versionPolicy: oneOf(VERSION_POLICIES, { description: 'UpgradeOnly or AllowDowngrade.' }),
    timeouts: Type.Object(StageTimeouts.properties, { description: 'The clock of each stage, in seconds.' }),
    minReadySeconds: Type.Integer({
      description: 'Seconds of stable life that prove health.',
      format: 'int32',
      minimum: 0,
    }),
    probes: HealthProbes,
  },
  { description: 'What is to be done on one node. Immutable.', ...rules(...TASK_SPEC_RULES) },
)
export type TaskSpec = Static<typeof TaskSpec>

/** `upgradehub.io/v1alpha1` NodeUpgradeTask: one job, one node, one purpose. */
export interface NodeUpgradeTask {
  readonly apiVersion: 'upgradehub.io/v1alpha1'
  readonly kind: 'NodeUpgradeTask'
  readonly metadata: ObjectMeta
  readonly spec: TaskSpec
  readonly status?: TaskStatus
}
