import type { NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import type { Answer, Progress } from '@upgrade-hub/protocol'
import type { EdgeMessage, ResultReport } from '../gateway/edge-status/decision.ts'

/** A task of node `n1` that was told to prepare. */
export function makeTask(status: Partial<TaskStatus> = {}, name = 'job-abc'): NodeUpgradeTask {
  return {
    apiVersion: 'upgradehub.io/v1alpha1',
    kind: 'NodeUpgradeTask',
    metadata: { name, uid: `uid-of-${name}` },
    spec: {
      owner: {
        apiVersion: 'operations.kubeedge.io/v1alpha2',
        kind: 'NodeUpgradeJob',
        name: 'job',
        uid: 'job-uid',
      },
      jobName: 'job',
      jobSpecHash: 'hash',
      nodeName: 'n1',
      nodeUID: 'node-uid',
      purpose: 'Upgrade',
      component: 'edgecore',
      order: 0,
      verdict: 'Run',
      tool: 'keadm',
      version: 'v1.1.0',
      image: 'docker.io/kubeedge/installation-package:v1.1.0',
      checkItems: ['cpu', 'disk'],
      versionPolicy: 'UpgradeOnly',
      timeouts: {
        checkSeconds: 60,
        downloadSeconds: 240,
        confirmSeconds: 86_400,
        upgradeSeconds: 300,
        rollbackSeconds: 300,
        verifySeconds: 120,
      },
      minReadySeconds: 10,
    },
    status: { phase: 'Pending', active: 'true', attempt: 1, intent: { seq: 1, verb: 'prepare' }, ...status },
  }
}

export function makeAnswer(over: Partial<Answer> = {}, name = 'job-abc'): EdgeMessage & { kind: 'answer' } {
  const body: Answer = {
    Task: name,
    TaskUID: `uid-of-${name}`,
    Attempt: 1,
    IntentSeq: 1,
    Value: 'prepared',
    Code: '',
    Reason: '',
    ...over,
  }
  return { kind: 'answer', nodeName: 'n1', body }
}

export function makeProgress(
  over: Partial<Progress> = {},
  name = 'job-abc',
): EdgeMessage & { kind: 'progress' } {
  const body: Progress = {
    action: 'Check',
    succ: true,
    finishTime: '2026-01-01T00:00:00Z',
    reason: '',
    extend: 'v1.0.0,v1.1.0',
    Task: name,
    TaskUID: `uid-of-${name}`,
    Attempt: 1,
    Seq: 3,
    Step: 'E2',
    Final: true,
    ...over,
  }
  return { kind: 'progress', nodeName: 'n1', body }
}

export function makeResult(
  over: Partial<ResultReport> = {},
  name = 'job-abc',
): EdgeMessage & { kind: 'result' } {
  const body: ResultReport = {
    UpgradeID: 'job',
    HistoryID: `${name}.1`,
    NodeName: 'n1',
    FromVersion: 'v1.0.0',
    ToVersion: 'v1.1.0',
    Status: 'upgrade_success',
    Reason: '',
    Outcome: 'Succeeded',
    attempt: 1,
    ...over,
  }
  return { kind: 'result', nodeName: 'n1', body }
}
