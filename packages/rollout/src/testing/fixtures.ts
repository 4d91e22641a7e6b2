import type { NodeUpgradeJob, NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import type { TaskView } from '../decisions.ts'
import { jobPlan } from '../job-plan.ts'
import { EDGE_NODE_LABEL } from '../names.ts'
import type { SlimNode } from '../slim-node.ts'
import { taskObject } from '../task-object.ts'

export const NOW = Date.parse('2026-01-01T00:00:00Z')
export const at = (seconds: number): number => NOW + seconds * 1000
export const time = (seconds: number): string => new Date(at(seconds)).toISOString().replace('.000Z', 'Z')

type Overrides<T> = { readonly [K in keyof T]?: T[K] }

/** An accepted, planned job that nothing holds back. */
export function aJob(
  spec: NodeUpgradeJob['spec'] = {},
  more: Overrides<NodeUpgradeJob> = {},
): NodeUpgradeJob {
  return {
    apiVersion: 'operations.kubeedge.io/v1alpha2',
    kind: 'NodeUpgradeJob',
    metadata: {
      name: 'job',
      uid: 'job-uid',
      generation: 1,
      resourceVersion: '1',
      finalizers: ['upgradehub.io/release'],
    },
    spec: { version: 'v1.12.0', nodeNames: ['n1'], ...spec },
    status: { conditions: [condition('Accepted', 'True', 'Accepted')], plan: { total: 1, hash: '' } },
    ...more,
  }
}

export function condition(type: string, status: 'True' | 'False', reason: string) {
  return { type, status, reason, message: '', lastTransitionTime: time(0) }
}

export function aNode(more: Overrides<SlimNode> = {}): SlimNode {
  return {
    name: 'n1',
    uid: 'n1-uid',
    resourceVersion: '5',
    labels: { [EDGE_NODE_LABEL]: '' },
    unschedulable: false,
    ownsUnschedulable: false,
    ready: true,
    version: 'v1.28.6-kubeedge-v1.11.0',
    arch: 'amd64',
    os: 'linux',
    registered: false,
    epoch: 0,
    keepCordoned: false,
    history: '',
    deleting: false,
    ...more,
  }
}

/** The task of `n1` in a job, with a status. */
export function aTask(
  status: Partial<TaskStatus> = {},
  job: NodeUpgradeJob = aJob(),
  nodeName = 'n1',
  order = 0,
): NodeUpgradeTask {
  const target = { nodeName, nodeUID: `${nodeName}-uid`, order, wave: 0, verdict: 'Run' as const }
  const task = taskObject(job, jobPlan(job), target)
  const metadata = { ...task.metadata, uid: `${nodeName}-task-uid`, resourceVersion: '7' }
  return { ...task, metadata, status: { phase: 'Pending', ...status } }
}

/** The node bears the mark of this task. */
export function held(
  task: NodeUpgradeTask,
  more: Overrides<SlimNode> = {},
  previousUnschedulable = false,
): SlimNode {
  return aNode({
    unschedulable: true,
    ownsUnschedulable: !previousUnschedulable,
    epoch: 1,
    hold: {
      task: task.metadata.name,
      taskUID: task.metadata.uid ?? '',
      epoch: 1,
      previousUnschedulable,
      takenAt: time(0),
    },
    ...more,
  })
}

export const PREPARING: Partial<TaskStatus> = {
  active: 'true',
  stage: 'Prepare',
  attempt: 1,
  intent: { seq: 1, verb: 'prepare' },
  startTime: time(0),
}
const DIGEST = `sha256:${'a'.repeat(64)}`
export const PREPARED: Partial<TaskStatus> = {
  ...PREPARING,
  edge: {
    attempt: 1,
    seq: 3,
    answer: { seq: 1, value: 'prepared', indexDigest: DIGEST, fromVersion: 'v1.11.0' },
  },
}
export const PROCEEDING: Partial<TaskStatus> = {
  ...PREPARED,
  phase: 'InProgress',
  stage: 'Proceed',
  intent: { seq: 2, verb: 'proceed', epoch: 1, notAfter: time(120) },
  hold: time(0),
  deadline: time(780),
  fromVersion: 'v1.11.0',
  toVersion: 'v1.12.0',
}

/** The same, with a result of the attempt. */
export function reported(
  outcome: string,
  code = '',
  status: Partial<TaskStatus> = PROCEEDING,
): Partial<TaskStatus> {
  const result = { attempt: 1, outcome, code, from: 'v1.11.0', to: 'v1.12.0' }
  return { ...status, edge: { ...(status.edge ?? { attempt: 1, seq: 9 }), results: [result] } }
}

export function aView(more: Partial<TaskView> = {}): TaskView {
  return {
    job: aJob(),
    task: aTask(),
    node: aNode(),
    released: false,
    mayPrepare: false,
    planned: true,
    resultSeenAt: undefined,
    now: NOW,
    ...more,
  }
}
