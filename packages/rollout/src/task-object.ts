import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { sha256Hex, taskName } from '@upgrade-hub/core'
import { sameVersion } from './conclude.ts'
import { type JobPlan, jobPlan, specHash } from './job-plan.ts'
import { JOB_NAME_LABEL, JOB_UID_LABEL, RELEASE_FINALIZER } from './names.ts'
import type { Reason } from './reasons.ts'
import { agentVersion, type SlimNode } from './slim-node.ts'
import type { Target } from './targets.ts'
import { statusOf } from './task-state.ts'

const MAX_LABEL_VALUE = 63

/** The task of one target. The same job and target give the same object for ever, so creating it again is harmless. */
export function taskObject(job: NodeUpgradeJob, plan: JobPlan, target: Target): NodeUpgradeTask {
  const { name, uid = '' } = job.metadata
  const owner = { apiVersion: 'operations.kubeedge.io/v1alpha2', kind: job.kind, name, uid }
  return {
    apiVersion: 'upgradehub.io/v1alpha1',
    kind: 'NodeUpgradeTask',
    metadata: {
      name: taskName({ name, uid }, target.nodeName, 'Upgrade'),
      labels: { [JOB_UID_LABEL]: uid, ...(name.length <= MAX_LABEL_VALUE ? { [JOB_NAME_LABEL]: name } : {}) },
      finalizers: [RELEASE_FINALIZER],
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      owner,
      jobName: name,
      jobSpecHash: specHash(job),
      nodeName: target.nodeName,
      nodeUID: target.nodeUID,
      purpose: 'Upgrade',
      component: plan.component,
      order: target.order,
      wave: target.wave,
      verdict: target.verdict,
      ...(target.reason ? { reason: target.reason } : {}),
      ...(target.message ? { message: target.message } : {}),
      ...workOf(plan),
    },
  }
}

/**
 * The task that takes an upgrade back: the node restores what it kept, so there is no image to pull. What somebody has put on
 * the node since is not taken away.
 */
export function rollBackTask(
  job: NodeUpgradeJob,
  upgrade: NodeUpgradeTask,
  node: SlimNode | undefined,
): NodeUpgradeTask {
  const { nodeName, nodeUID = '', order } = upgrade.spec
  const version = statusOf(upgrade).fromVersion ?? ''
  const reason = reasonToStay(upgrade, node)
  const verdict = reason ? ({ verdict: 'Refused', reason } as const) : ({ verdict: 'Run' } as const)
  const target: Target = { nodeName, nodeUID, order, wave: 0, ...verdict }
  const { metadata, spec } = taskObject(job, jobPlan(job), target)
  const name = taskName({ name: job.metadata.name, uid: job.metadata.uid ?? '' }, nodeName, 'RollBack')
  const { digests: _, checkItems: __, requireConfirmation: ___, ...work } = spec
  return {
    apiVersion: 'upgradehub.io/v1alpha1',
    kind: 'NodeUpgradeTask',
    metadata: { ...metadata, name },
    spec: {
      ...work,
      purpose: 'RollBack',
      rollbackOf: upgrade.metadata.name,
      version,
      image: '',
      versionPolicy: 'AllowDowngrade',
    },
  }
}

function reasonToStay(upgrade: NodeUpgradeTask, node: SlimNode | undefined): Reason | undefined {
  const { fromVersion, toVersion = upgrade.spec.version } = statusOf(upgrade)
  if (!fromVersion) return 'NoBackup'
  // Of other components the Node says nothing; what it says of the agent may still be what ran before.
  const runs = upgrade.spec.component === 'edgecore' ? agentVersion(node?.version ?? '') : ''
  const isExpected = runs === '' || sameVersion(runs, toVersion) || sameVersion(runs, fromVersion)
  return isExpected ? undefined : 'ChangedSince'
}

/** What `job.status.plan.hash` is: the membership, whatever the order it was found in. */
export function planHash(taskNames: Iterable<string>): string {
  return sha256Hex([...taskNames].sort().join('\n'))
}

function workOf(plan: JobPlan) {
  return {
    tool: plan.tool,
    version: plan.version,
    image: plan.image,
    ...(Object.keys(plan.digests).length > 0 ? { digests: { ...plan.digests } } : {}),
    ...(plan.registryAPI ? { registryAPI: plan.registryAPI } : {}),
    ...(plan.checkItems.length > 0 ? { checkItems: [...plan.checkItems] } : {}),
    ...(plan.requireConfirmation ? { requireConfirmation: true } : {}),
    versionPolicy: plan.versionPolicy,
    timeouts: plan.timeouts,
    minReadySeconds: plan.minReadySeconds,
    ...(plan.probes.length > 0 ? { probes: [...plan.probes] } : {}),
  }
}
