import { randomBytes } from 'node:crypto'
import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { KubeError } from '@upgrade-hub/kube'
import { specProblem } from '@upgrade-hub/rollout'
import type { Command, Context } from '../cli/command.ts'
import { exitCodeOfJob } from '../cli/exit-codes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { jobName, oneWord } from '../cluster/names.ts'
import { newJob } from '../cluster/resources.ts'
import { JOB_FLAGS, JOB_FLAGS_HELP, jobFromFlags } from '../create/job-flags.ts'
import { RefusedError, UsageError } from '../errors.ts'
import { ALL_NODES, MOST_NODES } from '../status/read-tasks.ts'
import { printData } from '../text/data.ts'
import { limitsOfTime, measure } from './durations.ts'
import { planReport } from './plan-report.ts'
import { readManifest } from './read-manifest.ts'
import { rehearse } from './rehearsal.ts'
import { planText } from './render.ts'

/** `plan`: what a job would do, before there is one. */
export const plan: Command = {
  name: 'plan',
  usage: '(-f FILE | JOB | FLAGS of kubectl create nodeupgradejob)',
  summary: 'which nodes a job would upgrade, when, and which not and why; writes nothing',
  help: [
    '-f, --filename FILE           the manifest of a job; - is standard input',
    ...JOB_FLAGS_HELP,
    '--all                         every node, not only the first ones',
  ],
  flags: { ...JOB_FLAGS, filename: { type: 'string', short: 'f' }, all: { type: 'boolean' } },
  formats: ['json', 'yaml'],
  argument: 'job',
  async run(context) {
    const { flags, format, terminal } = context
    const wanted = await wantedJob(context)
    const cluster = await context.cluster()
    const { job, notes } = await judged(cluster, wanted)
    const problem = specProblem(job.spec)
    if (problem) throw new RefusedError(problem)
    const [nodes, measured] = await Promise.all([cluster.nodes(), measure(cluster)])
    const limits = limitsOfTime(job)
    const now = cluster.now()
    const longest = rehearse(job, { nodes, durations: limits, now })
    const usual = measured ? rehearse(job, { nodes, durations: measured, now }) : longest
    const report = planReport({ usual, longest, measured, nodes, notes })
    if (!(await printData(terminal, format, () => report))) {
      const most = flags.isSet('all') ? ALL_NODES : MOST_NODES
      terminal.print(planText(wanted.metadata.name, report, { terminal, most }).join('\n'))
    }
    return exitCodeOfJob(usual.job)
  },
}

async function wantedJob({ positionals, flags, cluster, readInput }: Context): Promise<NodeUpgradeJob> {
  const file = flags.text('filename')
  const word = oneWord(positionals, 'plan takes one job')
  if (file !== undefined && word !== undefined) throw new UsageError('name a job or a file, not both')
  if (file !== undefined) return readManifest(file, readInput)
  if (word === undefined || flags.text('to-version') !== undefined) {
    return jobFromFlags(word === undefined ? 'this job' : jobName(word), flags)
  }
  return (await cluster()).job(jobName(word))
}

/** As the API server would store it, with its defaults, if it would: a create that is thrown away says so. */
async function judged(
  cluster: Cluster,
  wanted: NodeUpgradeJob,
): Promise<{ job: NodeUpgradeJob; notes: string[] }> {
  // Both versions have one schema, so a manifest of either is judged as the one that is stored.
  const job = newJob(`plan-${randomBytes(6).toString('hex')}`, wanted.spec ?? {})
  try {
    return { job: await cluster.createJob(job, true), notes: [] }
  } catch (error) {
    if (!(error instanceof KubeError && error.isForbidden && /cannot create resource/.test(error.message)))
      throw error
    return {
      job,
      notes: ['admission would not refuse the job (you may not create one, so it was not asked)'],
    }
  }
}
