import type { JobControl, NodeUpgradeJob } from '@upgrade-hub/api'
import { KubeError } from '@upgrade-hub/kube'
import type { Context } from '../cli/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { jobName } from '../cluster/names.ts'
import { UsageError } from '../errors.ts'
import { type DryRun, dryRunOf, dryRunSuffix } from './dry-run.ts'

const TRIES = 5

/** What a verb wants of a job: a change of `control` and how it is told, or only the telling because it is so already. */
export type Steering =
  | { readonly control: JobControl; readonly said: string }
  | { readonly control?: never; readonly said: string }

/**
 * Reads a job, lets `decide` judge it, and writes under the resourceVersion that was judged; a job that changed in between is
 * judged anew. Doing it twice does it once.
 */
export async function steer(context: Context, decide: (job: NodeUpgradeJob) => Steering): Promise<number> {
  const { positionals, flags, terminal } = context
  if (positionals.length === 0) throw new UsageError('name a job')
  const names = positionals.map(jobName)
  const dryRun = dryRunOf(flags)
  const cluster = await context.cluster()
  for (const name of names) {
    const said = await steerOne(cluster, name, { decide, dryRun })
    terminal.print(`nodeupgradejob/${name} ${said}${dryRunSuffix(dryRun)}`)
  }
  return EXIT.ok
}

async function steerOne(
  cluster: Cluster,
  name: string,
  { decide, dryRun }: { decide: (job: NodeUpgradeJob) => Steering; dryRun: DryRun },
): Promise<string> {
  for (let left = TRIES; ; left--) {
    const job = await cluster.job(name)
    const { control, said } = decide(job)
    if (!control || dryRun === 'client') return said
    try {
      await cluster.patchJob(job, { control }, dryRun === 'server')
      return said
    } catch (error) {
      if (!(error instanceof KubeError && error.isConflict && left > 1)) throw error
    }
  }
}
