import type { NodeUpgradeTask } from '@upgrade-hub/api'
import type { Cluster } from '../cluster/cluster.ts'

/** More nodes than a person reads. */
export const MOST_NODES = 50
/** What `--all` shows at most. */
export const ALL_NODES = 20_000

/**
 * The tasks of a job that matter: those that failed or may have, those at work, and some that wait. What is read does not grow
 * with the job, unless all of them are asked for.
 */
export async function readTasks(cluster: Cluster, job: string, all: boolean): Promise<NodeUpgradeTask[]> {
  if (all) return cluster.tasks({ job }, ALL_NODES)
  const slices = await Promise.all([
    cluster.tasks({ job, phase: 'Failure' }, MOST_NODES),
    cluster.tasks({ job, phase: 'Unknown' }, MOST_NODES),
    cluster.tasks({ job, phase: 'InProgress' }, MOST_NODES),
    cluster.tasks({ job, active: true }, MOST_NODES),
    cluster.tasks({ job }, MOST_NODES),
  ])
  return [...new Map(slices.flat().map((task) => [task.metadata.name, task])).values()]
}
