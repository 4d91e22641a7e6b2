import { Type } from '@upgrade-hub/core/schema'
import type { Static } from 'typebox'
import { LIMITS } from './limits.ts'

const Name = Type.String({ minLength: 1, maxLength: 253 })
const Uid = Type.String({ minLength: 1, maxLength: 64 })
const Version = Type.String({ maxLength: 256 })
const Digest = Type.String({ pattern: '^sha256:[a-f0-9]{64}$' })
const Attempt = Type.Integer({ minimum: 1, maximum: 1_000_000 })
const Seq = Type.Integer({ minimum: 0 })
const Seconds = Type.Integer({ minimum: 0, maximum: 31_536_000 })
const Reason = Type.String({ maxLength: LIMITS.maxReasonChars })
/** A mapped union has the static type never; this one has its words. */
const oneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>({ anyOf: words.map((word) => ({ type: 'string', const: word })) })

/** KubeEdge's envelope (beehive/pkg/core/model/message.go): every WebSocket frame is one, as JSON text. */
export const Envelope = Type.Object({
  header: Type.Object({
    msg_id: Type.String({ minLength: 1, maxLength: 64 }),
    parent_msg_id: Type.Optional(Type.String({ maxLength: 64 })),
    timestamp: Type.Number(),
    resourceversion: Type.Optional(Type.String({ maxLength: 64 })),
    sync: Type.Optional(Type.Boolean()),
    type: Type.Optional(Type.String({ maxLength: 64 })),
  }),
  route: Type.Object({
    source: Type.Optional(Type.String({ maxLength: 128 })),
    destination: Type.Optional(Type.String({ maxLength: 128 })),
    group: Type.Optional(Type.String({ maxLength: 128 })),
    operation: Type.String({ minLength: 1, maxLength: 64 }),
    resource: Type.Optional(Type.String({ maxLength: 1024 })),
  }),
  content: Type.Unknown(),
})
export type Envelope = Static<typeof Envelope>

export const Platform = Type.Object({
  os: Type.String({ maxLength: 32 }),
  arch: Type.String({ maxLength: 32 }),
  variant: Type.Optional(Type.String({ maxLength: 32 })),
})
export type Platform = Static<typeof Platform>

/** What the edge found when it ran the agent's version command in this boot. An empty version: it did not answer. */
export const Probe = Type.Object({ version: Version, bootID: Type.String({ maxLength: 64 }) })
export type Probe = Static<typeof Probe>

export const OpenAttempt = Type.Object({
  task: Name,
  taskUID: Uid,
  attempt: Attempt,
  step: Type.String({ maxLength: 16 }),
})
export type OpenAttempt = Static<typeof OpenAttempt>

export const Hello = Type.Object({
  protocol: Type.Literal(1),
  capabilities: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 }),
  node: Type.Object({
    bootID: Type.String({ maxLength: 64 }),
    machineID: Type.String({ maxLength: 128 }),
    timeZone: Type.String({ maxLength: 64 }),
  }),
  edgeVersion: Version,
  hubVersion: Version,
  platform: Platform,
  probe: Probe,
  open: Type.Array(OpenAttempt, { maxItems: 64 }),
  undelivered: Type.Integer({ minimum: 0 }),
})
export type Hello = Static<typeof Hello>

export const Welcome = Type.Object({
  heartbeatSeconds: Type.Integer({ minimum: 1, maximum: 600 }),
  nodeUID: Type.String({ maxLength: 64 }),
  open: Type.Array(
    Type.Object({
      task: Name,
      attempt: Attempt,
      verdict: Type.Union([Type.Literal('continue'), Type.Literal('abort'), Type.Literal('unknown')]),
    }),
    { maxItems: 64 },
  ),
  limits: Type.Object({ maxFrameBytes: Type.Integer({ minimum: 1024 }) }),
})
export type Welcome = Static<typeof Welcome>

/** Sent by the edge at every heartbeat, and at once when its probe changed. */
export const Keepalive = Type.Object({ probe: Type.Optional(Probe) })
export type Keepalive = Static<typeof Keepalive>

export const Timeouts = Type.Object({
  checkSeconds: Seconds,
  downloadSeconds: Seconds,
  confirmSeconds: Seconds,
  upgradeSeconds: Seconds,
  rollbackSeconds: Seconds,
  verifySeconds: Seconds,
})
export type Timeouts = Static<typeof Timeouts>

const ProbePort = Type.Integer({ minimum: 1, maximum: 65_535 })
const ProbeSeconds = Type.Integer({ minimum: 0, maximum: 3600 })
const Threshold = Type.Integer({ minimum: 1, maximum: 1000 })
/** One of exec, httpGet and tcpSocket, asked on the node itself; the times are Kubernetes' own. */
export const HealthProbe = Type.Object({
  /** Names an entry of the node's own list. */
  exec: Type.Optional(Type.Object({ name: Type.String({ minLength: 1, maxLength: 64 }) })),
  httpGet: Type.Optional(
    Type.Object({ port: ProbePort, path: Type.String({ pattern: '^/[!-~]*$', maxLength: 1024 }) }),
  ),
  tcpSocket: Type.Optional(Type.Object({ port: ProbePort })),
  initialDelaySeconds: Type.Optional(ProbeSeconds),
  periodSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 3600 })),
  timeoutSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
  successThreshold: Type.Optional(Threshold),
  failureThreshold: Type.Optional(Threshold),
})
export type HealthProbe = Static<typeof HealthProbe>

export const Health = Type.Object({
  minReadySeconds: Seconds,
  probes: Type.Optional(Type.Array(HealthProbe, { maxItems: 8 })),
})
export type Health = Static<typeof Health>

/** The intent `prepare` (wire operation `upgrade`): KubeEdge's NodeUpgradeJobRequest and what we add. */
export const Prepare = Type.Object({
  UpgradeID: Name,
  HistoryID: Type.String({ minLength: 3, maxLength: 300 }),
  Version,
  UpgradeTool: Type.String({ maxLength: 64 }),
  Image: Type.String({ maxLength: 512 }),
  /** Empty until the job has pinned one. */
  ImageDigest: Type.String({ maxLength: 80 }),
  RequireConfirmation: Type.Boolean(),
  Task: Name,
  TaskUID: Uid,
  NodeUID: Uid,
  Attempt,
  IntentSeq: Seq,
  Component: Type.String({ maxLength: 64 }),
  Purpose: Type.Union([Type.Literal('Upgrade'), Type.Literal('RollBack')]),
  CheckItems: Type.Array(Type.Union([Type.Literal('cpu'), Type.Literal('mem'), Type.Literal('disk')]), {
    maxItems: 3,
  }),
  Health,
  Timeouts,
  VersionPolicy: Type.Union([Type.Literal('UpgradeOnly'), Type.Literal('AllowDowngrade')]),
  /** `{os}/{arch}[/{variant}]` → manifest digest */
  Digests: Type.Record(Type.String({ maxLength: 96 }), Digest),
  /** Who else must say that the image has the digest that was found. */
  RegistryAPI: Type.Optional(
    Type.Object({
      Host: Type.String({ pattern: '^[A-Za-z0-9.-]+(:[0-9]{1,5})?$', maxLength: 253 }),
      Token: Type.String({ pattern: '^[!-~]+$', maxLength: 8192 }),
    }),
  ),
})
export type Prepare = Static<typeof Prepare>

export const Proceed = Type.Object({
  Task: Name,
  TaskUID: Uid,
  Attempt,
  IntentSeq: Seq,
  NodeUID: Uid,
  /** The Node's take counter: a lower one than the highest seen is refused. */
  Epoch: Type.Integer({ minimum: 1 }),
  /**
   * The permission to stop the agent ends this long after its receipt, on the receiver's monotonic clock. 0 permits nothing
   * and asks: who has this intent says what became of it, who has it not refuses it as expired.
   */
  ValidForSeconds: Type.Integer({ minimum: 0, maximum: 600 }),
})
export type Proceed = Static<typeof Proceed>

export const TaskRef = Type.Object({ Task: Name, TaskUID: Uid, Attempt, IntentSeq: Seq })
export type TaskRef = Static<typeof TaskRef>

export const ANSWERS = ['accepted', 'prepared', 'refused', 'done', 'tooLate', 'tombstoned', 'stale'] as const
/** The edge's answer to an intent; `accepted` says that it is stored and work goes on, and is not the last word. */
export const Answer = Type.Object({
  Task: Name,
  TaskUID: Uid,
  Attempt,
  IntentSeq: Seq,
  Value: oneOf(ANSWERS),
  /** A reason of `packages/rollout`'s table when refused, else empty. */
  Code: Type.String({ maxLength: 64 }),
  Reason,
  IndexDigest: Type.Optional(Digest),
  FromVersion: Type.Optional(Version),
  Platform: Type.Optional(Platform),
})
export type Answer = Static<typeof Answer>

export const ACTIONS = ['Check', 'WaitingConfirmation', 'BackUp', 'Upgrade', 'RollBack'] as const
export type Action = (typeof ACTIONS)[number]

/** Progress (operation `UpdateNodeActionStatus`): KubeEdge's five keys and what we add. */
export const Progress = Type.Object({
  action: oneOf(ACTIONS),
  succ: Type.Boolean(),
  finishTime: Type.String({ maxLength: 40 }),
  reason: Reason,
  /** `"{from},{to}"` */
  extend: Type.String({ maxLength: 520 }),
  Task: Name,
  TaskUID: Uid,
  Attempt,
  /** Number of the journal record that this reports. */
  Seq,
  /** The step it was at, E0 to E12. */
  Step: Type.String({ maxLength: 16 }),
  /** The action is over; false while it runs. */
  Final: Type.Boolean(),
  Percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  Bytes: Type.Optional(Type.Integer({ minimum: 0 })),
})
export type Progress = Static<typeof Progress>

export const OUTCOMES = [
  'Succeeded',
  'RefusedBeforeChange',
  'FailedBeforeChange',
  'Cancelled',
  'RolledBack',
  'RollbackFailed',
  'StateUnreadable',
] as const
export type Outcome = (typeof OUTCOMES)[number]

export const UPGRADE_STATUSES = [
  'upgrade_success',
  'upgrade_failed_rollback_success',
  'upgrade_failed_rollback_failed',
] as const
export type UpgradeStatus = (typeof UPGRADE_STATUSES)[number]

/** The body of `POST /nodeupgrade` and of the frame `result`: KubeEdge's NodeUpgradeJobResponse and what we add. */
export const Result = Type.Object({
  UpgradeID: Name,
  HistoryID: Type.String({ minLength: 3, maxLength: 300 }),
  NodeName: Name,
  FromVersion: Version,
  ToVersion: Version,
  Status: Type.String({ maxLength: 64 }),
  Reason,
  Outcome: Type.Optional(oneOf(OUTCOMES)),
  Code: Type.Optional(Type.String({ maxLength: 64 })),
  FinishedAt: Type.Optional(Type.String({ maxLength: 40 })),
  RunningVersion: Type.Optional(Version),
  LogTail: Type.Optional(Type.String({ maxLength: LIMITS.maxLogTailBytes })),
  TaskUID: Type.Optional(Uid),
})
export type Result = Static<typeof Result>

/** The hub has read the result back from the API server (operation `stored`). */
export const Stored = Type.Object({ HistoryID: Type.String({ minLength: 3, maxLength: 300 }) })
export type Stored = Static<typeof Stored>

export const GoAway = Type.Object({ retryAfterSeconds: Type.Integer({ minimum: 0, maximum: 3600 }) })
export type GoAway = Static<typeof GoAway>

export const WireError = Type.Object({
  code: Type.String({ maxLength: 64 }),
  message: Type.String({ maxLength: 1024 }),
})
export type WireError = Static<typeof WireError>
