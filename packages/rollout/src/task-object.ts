import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { sha256Hex, taskName } from '@upgrade-hub/core'
import { type JobPlan, specHash } from './job-plan.ts'
import { JOB_NAME_LABEL, JOB_UID_LABEL, RELEASE_FINALIZER } from './names.ts'
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

/** The task that takes an upgrade back: the node restores what it kept, so there is no image to pull. */
export function rollBackTask(job: NodeUpgradeJob, plan: JobPlan, upgrade: NodeUpgradeTask): NodeUpgradeTask {
  const { nodeName, nodeUID = '', order } = upgrade.spec
  const version = statusOf(upgrade).fromVersion ?? ''
  const target: Target = version
    ? { nodeName, nodeUID, order, wave: 0, verdict: 'Run' }
    : { nodeName, nodeUID, order, wave: 0, verdict: 'Refused', reason: 'NoBackup' }
  const { metadata, spec } = taskObject(job, plan, target)
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
