import type { Answer, Progress } from '@upgrade-hub/protocol'
import type { AttemptView } from '@upgrade-hub/upgrader'

/** A prepared attempt, with what a test wants different. */
export function viewOf(more: Partial<AttemptView> = {}): AttemptView {
  return {
    id: 'task.1',
    upgradeID: 'job',
    task: 'task',
    taskUID: 'uid',
    nodeUID: 'node-uid',
    attempt: 1,
    step: 'prepared',
    phase: 'prepared',
    lastSeq: 5,
    actions: [],
    needsUpdater: false,
    pastStop: false,
    ...more,
  }
}

export function answerOf(Value: Answer['Value'], IntentSeq = 1): Answer {
  return { Task: 'task', TaskUID: 'uid', Attempt: 1, IntentSeq, Value, Code: '', Reason: '' }
}

export function progressOf(more: Partial<Progress> = {}): Progress {
  return {
    action: 'Check',
    succ: true,
    finishTime: '2026-01-01T00:00:00Z',
    reason: '',
    extend: 'v1.0.0,v1.1.0',
    Task: 'task',
    TaskUID: 'uid',
    Attempt: 1,
    Seq: 3,
    Step: 'E3',
    Final: false,
    ...more,
  }
}
