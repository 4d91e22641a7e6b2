import { endOf } from './conclude.ts'
import { decideEnded } from './decide-ended.ts'
import { decidePending } from './decide-pending.ts'
import { decideProceeding } from './decide-proceeding.ts'
import type { TaskDecision, TaskView } from './decisions.ts'
import { finish } from './finish.ts'
import { isEnd, statusOf } from './task-state.ts'

/**
 * What is to be done next about one task. Level-triggered: the same view gives the same answer, and after the answer is applied
 * the next question is asked of what was stored, so that a crash between any two writes loses nothing.
 */
export function decideTask(view: TaskView): TaskDecision {
  const { task, node } = view
  const { phase } = statusOf(task)
  if (isEnd(phase)) return decideEnded(view)
  if (task.spec.verdict === 'Run' && node?.uid !== task.spec.nodeUID) return finish(view, endOf('NodeGone'))
  return phase === 'Pending' ? decidePending(view) : decideProceeding(view)
}
