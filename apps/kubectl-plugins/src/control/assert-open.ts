import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { isFinished } from '@upgrade-hub/rollout'
import { RefusedError } from '../errors.ts'

/** @throws RefusedError for a job that nothing can be done about any more */
export function assertOpen(job: NodeUpgradeJob, verb: string): void {
  const { name } = job.metadata
  if (isFinished(job)) throw new RefusedError(`nodeupgradejob/${name} is over: it cannot be ${verb}`)
  if (job.metadata.deletionTimestamp) throw new RefusedError(`nodeupgradejob/${name} is being deleted`)
  if (job.control?.cancelled) throw new RefusedError(`nodeupgradejob/${name} is cancelled: create a new job`)
}
