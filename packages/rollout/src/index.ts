export { amountOf } from './amount.ts'
export { limitsOf } from './budget.ts'
export { type End, endOf, isVerified } from './conclude.ts'
export {
  decideJob,
  type JobDecision,
  type JobView,
  type JobWrite,
  notPlanned,
  planPatch,
} from './decide-job.ts'
export { decideTask } from './decide-task.ts'
export type { HubEvent, TaskDecision, TaskPatch, TaskView, TaskWrite } from './decisions.ts'
export { conditionOf, type Halt, haltOf, isAccepted, isFinished } from './halt.ts'
export { type Counts, type Entry, JobIndex } from './job-index.ts'
export { type JobPlan, jobPlan, specHash, specProblem } from './job-plan.ts'
export { type JobStatusPatch, MAX_ROWS } from './job-status.ts'
export { endedPatch } from './kept.ts'
export { NODE_FIELD_MANAGER, RELEASE_FINALIZER } from './names.ts'
export { nodeCount } from './node-count.ts'
export { type NodePatch, restorePatch, takePatch } from './node-patches.ts'
export { isReason, REASONS, type Reason, type ReasonRule } from './reasons.ts'
export { rollBackPatch, tasksBack } from './roll-back.ts'
export { type CrdLike, isOurSchema } from './schema-guard.ts'
export { matchesSelector, selectorProblem } from './selector.ts'
export { agentVersion, type SlimNode, slimNode } from './slim-node.ts'
export { type Pod, podsInTheWay, type SlimPod } from './slim-pod.ts'
export { type NodeLookup, resolveTargets, type Target } from './targets.ts'
export { planHash, taskObject } from './task-object.ts'
export { GRACE_MS, PERMISSION_MS } from './task-patches.ts'
export {
  currentAnswer,
  holds,
  isEnd,
  resultOf,
  statusOf,
  type TaskState,
  taskState,
  UNREACHABLE_AFTER_MS,
} from './task-state.ts'
export { toldOf } from './tell.ts'
export { neverOpens, windowAt, zoneOf } from './window.ts'
