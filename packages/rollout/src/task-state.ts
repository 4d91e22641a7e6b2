import type { EdgeResult, NodeUpgradeTask, TaskPhase, TaskStatus } from '@upgrade-hub/api'

/**
 * Where a task stands, read off what is stored:
 * `refused` has a verdict against it that is not yet its end · `waiting` may be told to prepare · `resting` waits for a while
 * after a refusal that may pass · `preparing` was told so · `confirming` waits for a person at the node · `unreachable` was told
 * and does not answer · `prepared` waits for its turn · `answered` has an answer or a result that ends or defers it ·
 * `proceeding` was told to proceed · `ended`.
 */
export type TaskState =
  | 'refused'
  | 'waiting'
  | 'resting'
  | 'preparing'
  | 'confirming'
  | 'unreachable'
  | 'prepared'
  | 'answered'
  | 'proceeding'
  | 'ended'

/** A `prepare` that is not acknowledged for this long is `Unreachable`. */
export const UNREACHABLE_AFTER_MS = 60_000
/** The edge's step while it waits for a confirmation (E4c). */
const CONFIRM_STEP = 'E4c'
const PENDING: TaskStatus = { phase: 'Pending' }

/** A task's status; one without any is Pending, as the schema's default has it. */
export function statusOf(task: NodeUpgradeTask): TaskStatus {
  return task.status ?? PENDING
}

/** True for a phase in which nothing more is done. `Unknown` is one, though it may turn into the truth once. */
export function isEnd(phase: TaskPhase): boolean {
  return phase !== 'Pending' && phase !== 'InProgress'
}

/** The state of a task; the time matters for `resting` alone. */
export function taskState(task: NodeUpgradeTask, now: number): TaskState {
  const status = statusOf(task)
  if (isEnd(status.phase)) return 'ended'
  if (status.phase === 'InProgress') return 'proceeding'
  if (task.spec.verdict === 'Refused') return 'refused'
  if (status.stage !== 'Prepare') return isResting(status, now) ? 'resting' : 'waiting'
  if (resultOf(task)) return 'answered'
  const answer = currentAnswer(status)
  if (answer) return answer.value === 'prepared' ? 'prepared' : 'answered'
  if (status.reason === 'Unreachable') return 'unreachable'
  return status.edge?.step === CONFIRM_STEP && edgeSpoke(status) ? 'confirming' : 'preparing'
}

/** The last word on the intent that stands; undefined while there is none. */
export function currentAnswer({ intent, edge }: TaskStatus) {
  const answer = edge?.answer
  if (!intent?.seq || answer?.seq !== intent.seq) return undefined
  return answer.value === 'accepted' || answer.value === 'stale' ? undefined : answer
}

/** What the edge reported of the current attempt. One that came late counts for a task whose end is not known. */
export function resultOf(task: NodeUpgradeTask): EdgeResult | undefined {
  const { attempt = 0, edge, phase } = statusOf(task)
  const ofAttempt = (result: EdgeResult) => attempt > 0 && result.attempt === attempt
  return edge?.results?.find(ofAttempt) ?? (phase === 'Unknown' ? edge?.late?.find(ofAttempt) : undefined)
}

/** The edge has said something of the current attempt, so the intent did arrive. */
export function edgeSpoke({ attempt, edge }: TaskStatus): boolean {
  return attempt !== undefined && attempt > 0 && edge?.attempt === attempt
}

/** The node bears our mark for exactly this task. */
export function holds(node: { hold?: { taskUID: string } } | undefined, task: NodeUpgradeTask): boolean {
  return node?.hold !== undefined && node.hold.taskUID === task.metadata.uid
}

/** Milliseconds of a stored time; 0 for none. */
export function timeOf(text: string | undefined): number {
  return text ? Date.parse(text) || 0 : 0
}

function isResting({ deadline }: TaskStatus, now: number): boolean {
  return now < timeOf(deadline)
}
