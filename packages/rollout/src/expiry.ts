import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { timeOf } from './task-state.ts'

const DEFAULT_TTL_MS = 30 * 86_400_000
/** So many of the newest finished jobs are kept, however old, unless their own TTL says otherwise. */
const KEPT_JOBS = 20

/**
 * When a finished job is to be deleted, API time in ms; undefined for one that is kept. `newer` is how many jobs have finished
 * after it.
 */
export function expiresAt({ control, status }: NodeUpgradeJob, newer: number): number | undefined {
  const ended = timeOf(status?.completionTime)
  if (ended === 0) return undefined
  const ttl = control?.ttlSecondsAfterFinished
  if (ttl !== undefined) return ended + ttl * 1000
  return newer < KEPT_JOBS ? undefined : ended + DEFAULT_TTL_MS
}
