import type { NodeUpgradeTask } from '@upgrade-hub/api'
import type { JobPlan } from './job-plan.ts'
import { currentAnswer, statusOf } from './task-state.ts'
import { type WindowState, windowAt, zoneOf } from './window.ts'

/** How the window of a job stands on the node of a task, by the clock of the node where the job says so. The way back waits for none. */
export function windowOn({ window }: JobPlan, task: NodeUpgradeTask, now: number): WindowState {
  if (!window || task.spec.purpose === 'RollBack') return { isOpen: true }
  return windowAt(window, zoneOf(window, currentAnswer(statusOf(task))?.timeZone), now)
}
