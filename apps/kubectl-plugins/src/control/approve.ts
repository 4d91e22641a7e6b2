import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { KubeError } from '@upgrade-hub/kube'
import { jobPlan } from '@upgrade-hub/rollout'
import type { Command } from '../cli/command.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { RefusedError, UsageError } from '../errors.ts'
import { assertOpen } from './assert-open.ts'
import { DRY_RUN_FLAG, DRY_RUN_HELP } from './dry-run.ts'
import { type Steering, steer } from './steer.ts'

const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

/** `approve JOB` */
export const approve: Command = {
  name: 'approve',
  usage: 'JOB',
  summary: 'let a wave begin that waits for an approval; it is recorded who and why',
  help: [
    '--wave NAME      the wave; default: the one that waits',
    '--reason TEXT    why, for those who read it later',
    DRY_RUN_HELP,
  ],
  flags: { wave: { type: 'string' }, reason: { type: 'string' }, ...DRY_RUN_FLAG },
  formats: [],
  argument: 'job',
  async run(context) {
    const { flags, positionals } = context
    if (positionals.length !== 1) throw new UsageError('approve takes one job')
    const by = await ownName(await context.cluster())
    const reason = flags.text('reason')
    const wish = { wave: flags.text('wave'), by, reason }
    return steer(context, (job) => approving(job, wish))
  },
}

interface Wish {
  readonly wave: string | undefined
  readonly by: string | undefined
  readonly reason: string | undefined
}

/** The approval of a wave, added to those that were given. @throws RefusedError */
function approving(job: NodeUpgradeJob, { wave: asked, by, reason }: Wish): Steering {
  assertOpen(job, 'approved')
  const wave = asked ?? waiting(job)
  const { name } = job.metadata
  if (wave === undefined)
    throw new RefusedError(`no wave of nodeupgradejob/${name} waits for an approval: name one with --wave`)
  const needed = jobPlan(job)
    .waves.filter(({ approval }) => approval === 'Required')
    .map(({ name }) => name)
  if (!needed.includes(wave)) {
    throw new RefusedError(
      `wave ${wave} of nodeupgradejob/${name} needs no approval; ${needed.join(', ') || 'no wave'} does`,
    )
  }
  const given = job.control?.approvals ?? []
  const before = given.find((approval) => approval.wave === wave)
  if (before) return { said: `wave ${wave} is approved already${before.by ? `, by ${before.by}` : ''}` }
  const approval = { wave, ...(by ? { by } : {}), ...(reason ? { reason } : {}) }
  return {
    control: { approvals: [...given, approval] },
    said: `wave ${wave} approved${by ? ` by ${by}` : ''}`,
  }
}

function waiting({ status }: NodeUpgradeJob): string | undefined {
  return status?.waves?.find(({ state }) => state === 'WaitingForApproval')?.name
}

/** As the API server knows us; undefined where it does not say, and then it fills in the name itself. */
async function ownName(cluster: Cluster): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  try {
    const review = await cluster.raw(REVIEW, { method: 'POST', body })
    return (review as { status?: { userInfo?: { username?: string } } }).status?.userInfo?.username
  } catch (error) {
    if (error instanceof KubeError && (error.isNotFound || error.isForbidden)) return undefined
    throw error
  }
}
