import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { conditionOf, isAccepted } from './halt.ts'
import { specProblem } from './job-plan.ts'
import { KUBEEDGE_FINALIZER, RELEASE_FINALIZER } from './names.ts'
import { neverOpens } from './window.ts'

/** Whether a job is ours to run, and if not, why: the reason and message of its condition `Accepted`. */
export interface Standing {
  readonly accepted: boolean
  readonly reason: 'Accepted' | 'ForeignController' | 'NotAdopted' | 'InvalidSpec' | 'WindowNeverOpens'
  readonly message: string
}

/**
 * A job with a past that we did not write is somebody else's and is never run, unless `control.adopt` says so. Our past is
 * known by our condition, or by our finalizer, which survives a pruned status.
 */
export function standingOf(job: NodeUpgradeJob, now: number): Standing {
  const adopted = job.control?.adopt === true
  const finalizers = job.metadata.finalizers ?? []
  if (finalizers.includes(KUBEEDGE_FINALIZER) && !adopted) {
    return no('ForeignController', `KubeEdge's controller holds the job (finalizer ${KUBEEDGE_FINALIZER})`)
  }
  if (hasPast(job) && !isOurs(job, finalizers) && !adopted) {
    return no('NotAdopted', 'another controller has written a status here: set control.adopt to run the job')
  }
  const problem = specProblem(job.spec)
  if (problem) return no('InvalidSpec', problem)
  const never = job.status?.plan ? undefined : neverOpens(job.spec?.upgradeHub?.window, now)
  if (never) return no('WindowNeverOpens', never)
  return { accepted: true, reason: 'Accepted', message: 'the job is ours to run' }
}

function hasPast({ status }: NodeUpgradeJob): boolean {
  return Boolean(status?.phase || status?.state || status?.nodeStatus?.length || status?.status?.length)
}

/** With our finalizer a lost condition means a foreign writer, which is for a person to judge. */
function isOurs(job: NodeUpgradeJob, finalizers: readonly string[]): boolean {
  return (
    finalizers.includes(RELEASE_FINALIZER) && (isAccepted(job) || conditionOf(job, 'Accepted') !== undefined)
  )
}

function no(reason: Standing['reason'], message: string): Standing {
  return { accepted: false, reason, message }
}
