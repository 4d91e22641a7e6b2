import { isDeepStrictEqual } from 'node:util'
import type { NodeUpgradeJob, NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import type { Kind, Stored } from './api.ts'

const OPEN = ['Pending', 'InProgress']

/** What the transition rules of the CRDs refuse (`packages/api`: TASK_STATUS_RULES, EDGE_RULES, JOB_RULES), in this language. */
export function refusal(kind: Kind, old: Stored, next: Stored): string | undefined {
  if (kind === 'task') return taskRefusal(old as NodeUpgradeTask, next as NodeUpgradeTask)
  return kind === 'job' ? jobRefusal(old as NodeUpgradeJob, next as NodeUpgradeJob) : undefined
}

function taskRefusal(old: NodeUpgradeTask, next: NodeUpgradeTask): string | undefined {
  if (!isDeepStrictEqual(old.spec, next.spec)) return 'the spec of a task never changes'
  const from = old.status ?? { phase: 'Pending' }
  const to = next.status ?? { phase: 'Pending' }
  if (!mayTurn(from, to)) return `an ended task does not change its phase (${from.phase} to ${to.phase})`
  if ((to.attempt ?? 0) < (from.attempt ?? 0)) return 'the attempt never goes back'
  for (const past of from.attempts ?? []) {
    const now = to.attempts?.find((entry) => entry.attempt === past.attempt)
    const isOpen = !past.outcome || past.outcome === 'Unknown'
    if (!now || !(isOpen || isDeepStrictEqual(now, past)))
      return 'how an attempt ended is never changed or removed'
  }
  return edgeRefusal(from, to)
}

function mayTurn(from: TaskStatus, to: TaskStatus): boolean {
  if (from.phase === to.phase || OPEN.includes(from.phase)) return true
  if (from.phase === 'Unknown' && (to.phase === 'Successful' || to.phase === 'Failure')) return true
  const again = ['Failure', 'Unknown'].includes(from.phase) && to.phase === 'Pending'
  return again && to.attempt === (from.attempt ?? 0) + 1
}

function edgeRefusal({ edge: old }: TaskStatus, { edge: next }: TaskStatus): string | undefined {
  if (!old) return undefined
  if (!next) return 'what the edge said is never removed'
  if (next.attempt < old.attempt || (next.attempt === old.attempt && next.seq < old.seq))
    return 'attempt and seq never go back'
  const lost = (was: readonly unknown[] = [], is: readonly unknown[] = []) =>
    !was.every((entry) => is.some((other) => isDeepStrictEqual(entry, other)))
  if (next.attempt === old.attempt && lost(old.actions, next.actions))
    return 'no action of the current attempt is removed'
  if (lost(old.results, next.results)) return 'a stored result is never changed or removed'
  return lost(old.late, next.late) ? 'a late result is never changed or removed' : undefined
}

function jobRefusal(old: NodeUpgradeJob, next: NodeUpgradeJob): string | undefined {
  if (!isDeepStrictEqual(old.spec, next.spec))
    return "spec fields are not allowed to update once it's created"
  const ended = (job: NodeUpgradeJob) =>
    (job.status?.conditions ?? []).filter((c) => TERMINAL.includes(c.type) && c.status === 'True')
  const lost = ended(old).filter(
    (condition) => !ended(next).some((c) => c.type === condition.type && c.reason === condition.reason),
  )
  return lost.length > 0 ? 'terminal conditions never flip' : undefined
}

const TERMINAL = ['Complete', 'Failed', 'Finished']
