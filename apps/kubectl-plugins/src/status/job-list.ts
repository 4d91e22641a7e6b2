import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { table } from '../text/table.ts'
import { ageOf } from '../text/time.ts'
import { indexOf, type JobReport, jobReport } from './job-report.ts'

/** Every job, a line each. */
export function jobTable(jobs: readonly NodeUpgradeJob[], now: number): string[] {
  if (jobs.length === 0)
    return ['no NodeUpgradeJob: kubectl create nodeupgradejob --help says how to make one']
  const rows = jobs.map((job) => row(jobReport(job, indexOf([], now), { now, most: 0 }), job, now))
  return table(['NAME', 'VERSION', 'STATE', 'ENDED', 'FAILED', 'AGE'], rows)
}

function row(
  { name, version, state, counts }: JobReport,
  { metadata }: NodeUpgradeJob,
  now: number,
): string[] {
  const { total, pending, inProgress, failed, unknown } = counts
  const ended = total - pending - inProgress
  return [
    name,
    version,
    state,
    total === 0 ? '' : `${ended}/${total}`,
    String(failed + unknown),
    ageOf(metadata.creationTimestamp, now),
  ]
}
