import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { haltOf } from './halt.ts'

/** All that the tasks of a job look at in it, in one text: when it changes, every one of them is to be asked again. */
export function toldOf(job: NodeUpgradeJob | undefined): string {
  const { metadata, status, control } = job ?? {}
  return [
    haltOf(job),
    status?.image?.digest,
    status?.plan?.hash,
    metadata?.deletionTimestamp,
    control?.retry,
  ].join(' ')
}
