import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { conditionOf, jobPlan, PERMISSION_MS, statusOf } from '@upgrade-hub/rollout'
import type { Cluster } from '../cluster/cluster.ts'
import type { Durations } from './ideal-edge.ts'

/** Tasks that are looked at: enough for a median. */
const SAMPLE = 100
const JOBS = 3
const LEAST_MS = 1_000
/** The hub has to see the node Ready at the version before a task ends. */
const VERIFY_MS = 2_000

export interface Measured extends Durations {
  readonly nodes: number
  readonly jobs: readonly string[]
}

/** How long nodes took in the newest jobs that are over; undefined when none has upgraded any. */
export async function measure(cluster: Cluster): Promise<Measured | undefined> {
  const over = (await cluster.jobs()).filter(
    (job) => conditionOf(job, 'Finished')?.status === 'True' && (job.status?.summary?.successful ?? 0) > 0,
  )
  const names = over.slice(0, JOBS).map(({ metadata }) => metadata.name)
  const samples = await Promise.all(names.map((job) => cluster.tasks({ job, phase: 'Successful' }, SAMPLE)))
  const durations = durationsOf(samples)
  return durations && { ...durations, jobs: names }
}

/**
 * The usual durations of upgrades that went well. The first node of a job waits for nobody, so the shortest way from its
 * beginning to its end is the work alone; what of it is the upgrade, the node's own clock says.
 */
export function durationsOf(
  jobs: readonly (readonly NodeUpgradeTask[])[],
): (Durations & { nodes: number }) | undefined {
  const wholes = jobs.flatMap((tasks) => least(tasks.flatMap(wholeMs)))
  const proceeds = jobs.flat().flatMap(proceedMs)
  const whole = median(wholes)
  if (whole === undefined) return undefined
  const proceed = Math.min(whole, (median(proceeds) ?? whole / 2) + VERIFY_MS)
  return {
    prepareMs: Math.max(LEAST_MS, whole - proceed),
    proceedMs: Math.max(LEAST_MS, proceed),
    nodes: jobs.flat().length,
  }
}

/** The longest that a node may take, and succeed. */
export function limitsOfTime(job: NodeUpgradeJob): Durations {
  const { timeouts } = jobPlan(job)
  return {
    prepareMs: (timeouts.checkSeconds + timeouts.downloadSeconds) * 1_000,
    proceedMs: PERMISSION_MS + (timeouts.upgradeSeconds + timeouts.verifySeconds) * 1_000,
  }
}

function wholeMs(task: NodeUpgradeTask): number[] {
  const { startTime, completionTime, attempt } = statusOf(task)
  const ms = Date.parse(completionTime ?? '') - Date.parse(startTime ?? '')
  return attempt === 1 && ms > 0 ? [ms] : []
}

/** From the end of the back-up to the end of the upgrade, both by the clock of the node. */
function proceedMs(task: NodeUpgradeTask): number[] {
  const actions = statusOf(task).edge?.actions ?? []
  const timeOf = (name: string) => Date.parse(actions.find(({ action }) => action === name)?.time ?? '')
  const ms = timeOf('Upgrade') - timeOf('BackUp')
  return ms >= 0 ? [ms] : []
}

function least(values: readonly number[]): number[] {
  return values.length > 0 ? [Math.min(...values)] : []
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}
