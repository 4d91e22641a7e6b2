import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { KubeError } from '@upgrade-hub/kube'
import { isFinished, nodeCount } from '@upgrade-hub/rollout'
import type { Command } from '../cli/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { jobName, oneWord } from '../cluster/names.ts'
import { RefusedError } from '../errors.ts'
import { assertOpen } from './assert-open.ts'
import { DRY_RUN_FLAG, DRY_RUN_HELP, type DryRun, dryRunOf, dryRunSuffix } from './dry-run.ts'
import { type Steering, steer } from './steer.ts'

/** A job takes no more names. */
const MOST_NAMES = 10_000
const MOST_RETRIES = 16
/** On a job that `retry` made: the one whose failed nodes it has. */
const RETRY_OF = 'upgradehub.io/retry-of'

/** `retry JOB` */
export const retry: Command = {
  name: 'retry',
  usage: 'JOB',
  summary:
    'try the failed nodes again: in the job while it is open, after it in a new one, whose name is printed',
  help: [DRY_RUN_HELP],
  flags: DRY_RUN_FLAG,
  formats: [],
  argument: 'job',
  async run(context) {
    const { positionals, flags, terminal } = context
    const name = jobName(oneWord(positionals, 'retry takes one job'))
    const cluster = await context.cluster()
    const job = await cluster.job(name)
    if (!isFinished(job)) return steer(context, retrying)
    const dryRun = dryRunOf(flags)
    terminal.print(`${await retryFinished(cluster, job, dryRun)}${dryRunSuffix(dryRun)}`)
    return EXIT.ok
  },
}

function retrying(job: NodeUpgradeJob): Steering {
  assertOpen(job, 'retried')
  const { failed = 0 } = job.status?.summary ?? {}
  const { name } = job.metadata
  if (failed === 0) throw new RefusedError(`no node of nodeupgradejob/${name} has failed`)
  const asked = job.control?.retry ?? 0
  if (asked >= MOST_RETRIES)
    throw new RefusedError(`nodeupgradejob/${name} was retried ${asked} times: create a new job`)
  return { control: { retry: asked + 1 }, said: `tries ${failed} failed nodes again` }
}

async function retryFinished(cluster: Cluster, job: NodeUpgradeJob, dryRun: DryRun): Promise<string> {
  const { name } = job.metadata
  const names = await failedNodes(cluster, name)
  if (names.length === 0) throw new RefusedError(`no node of nodeupgradejob/${name} has failed`)
  const next = retryJob(job, names)
  const id = `nodeupgradejob/${next.metadata.name}`
  try {
    if (dryRun !== 'client') await cluster.createJob(next, dryRun === 'server')
    return `${id} created, with ${nodeCount(names.length)} that failed in ${name}`
  } catch (error) {
    if (!(error instanceof KubeError && error.isAlreadyExists)) throw error
    const known = await cluster.job(next.metadata.name)
    if (known.metadata.annotations?.[RETRY_OF] === name) return `${id} tries them again already`
    throw new RefusedError(`there is a ${id} that is no retry of ${name}: create a job under another name`)
  }
}

async function failedNodes(cluster: Cluster, job: string): Promise<string[]> {
  const [failed, unknown] = await Promise.all([
    cluster.tasks({ job, phase: 'Failure' }, MOST_NAMES),
    cluster.tasks({ job, phase: 'Unknown' }, MOST_NAMES),
  ])
  const inOrder = [...failed, ...unknown].sort((a, b) => a.spec.order - b.spec.order)
  return [...new Set(inOrder.map(({ spec }) => spec.nodeName))].slice(0, MOST_NAMES)
}

/** The same job for some of its nodes. One retry of a job has one name, so that asking twice makes one. */
function retryJob(
  { apiVersion, kind, metadata, spec }: NodeUpgradeJob,
  nodeNames: readonly string[],
): NodeUpgradeJob {
  const { labelSelector: _, upgradeHub, ...rest } = spec ?? {}
  const { allNodes: __, exclude: ___, ...ours } = upgradeHub ?? {}
  return {
    apiVersion,
    kind,
    metadata: { name: nextName(metadata.name), annotations: { [RETRY_OF]: metadata.name } },
    spec: { ...rest, nodeNames: [...nodeNames], ...(upgradeHub ? { upgradeHub: ours } : {}) },
  }
}

/** `a-retry-1` after `a`, `a-retry-2` after that. */
function nextName(name: string): string {
  const [, base = name, count = '0'] = /^(.*)-retry-(\d{1,4})$/.exec(name) ?? []
  return `${base.slice(0, 240)}-retry-${Number(count) + 1}`
}
