import { HISTORY_ANNOTATION, type NodeUpgradeTask } from '@upgrade-hub/api'
import { KubeError } from '@upgrade-hub/kube'
import { isEnd, statusOf } from '@upgrade-hub/rollout'
import type { Command, Context } from '../cli/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { oneWord, typedName } from '../cluster/names.ts'
import { NotFoundError } from '../errors.ts'
import { cleanLine } from '../text/clean.ts'
import { printData } from '../text/data.ts'
import { table } from '../text/table.ts'
import { ageOf } from '../text/time.ts'

const MOST_TASKS = 20_000

/** One attempt on one node. */
interface Entry {
  readonly node: string
  readonly job: string
  readonly attempt: number
  readonly from: string
  readonly to: string
  readonly outcome: string
  readonly reason: string
  /** RFC 3339; empty while it runs. */
  readonly time: string
}

/** `history NODE|JOB` */
export const history: Command = {
  name: 'history',
  usage: 'NODE|JOB',
  summary:
    'every attempt on a node, or of a job, and how it ended; node/NAME and job/NAME say which is meant',
  help: [],
  flags: {},
  formats: ['json', 'yaml'],
  argument: 'node or job',
  async run(context) {
    const { kind, name } = typedName(oneWord(context.positionals, 'history takes one node or job'))
    const cluster = await context.cluster()
    if (kind === 'job') return ofJob(context, cluster, name)
    const tasks = await cluster.tasks({ node: name }, MOST_TASKS)
    const versions = await versionsOf(cluster, name)
    const isNode = kind === 'node' || tasks.length > 0 || versions !== undefined
    return isNode ? ofNode(context, { cluster, name, tasks, versions }) : ofJob(context, cluster, name)
  },
}

async function ofJob(context: Context, cluster: Cluster, name: string): Promise<number> {
  await cluster.job(name)
  return show(context, cluster, await cluster.tasks({ job: name }, MOST_TASKS))
}

interface NodePast {
  readonly cluster: Cluster
  readonly name: string
  readonly tasks: readonly NodeUpgradeTask[]
  readonly versions: string | undefined
}

async function ofNode(context: Context, { cluster, name, tasks, versions }: NodePast): Promise<number> {
  if (tasks.length === 0 && versions === undefined) throw new NotFoundError(`there is no Node ${name}`)
  const code = await show(context, cluster, tasks)
  // Jobs are deleted after a while; the node remembers its last versions.
  if (versions && context.format === undefined) context.terminal.print(`versions: ${versions}`)
  return code
}

async function show(
  { terminal, format }: Context,
  cluster: Cluster,
  tasks: readonly NodeUpgradeTask[],
): Promise<number> {
  const entries = tasks
    .flatMap(entriesOf)
    .sort((a, b) => (b.time || '9').localeCompare(a.time || '9') || (a.node < b.node ? -1 : 1))
  if (await printData(terminal, format, () => entries)) return EXIT.ok
  if (entries.length === 0) terminal.print('no attempt yet')
  else {
    const now = cluster.now()
    const rows = entries.map((entry) => [
      entry.node,
      entry.job,
      String(entry.attempt),
      entry.from,
      entry.to,
      entry.outcome,
      entry.reason,
      entry.time ? ageOf(entry.time, now) : '',
    ])
    terminal.print(table(['NODE', 'JOB', 'TRY', 'FROM', 'TO', 'OUTCOME', 'REASON', 'AGE'], rows).join('\n'))
  }
  return EXIT.ok
}

/** What ended, and the attempt that runs; a task that never had an attempt tells its end alone. */
function entriesOf(task: NodeUpgradeTask): Entry[] {
  const { attempts = [], attempt = 0, phase, outcome, reason, completionTime, fromVersion } = statusOf(task)
  const base = { node: task.spec.nodeName, job: task.spec.jobName, to: task.spec.version }
  const ended = attempts.map((one) => ({
    ...base,
    attempt: one.attempt,
    from: cleanLine(one.from ?? '', 64),
    outcome: cleanLine(one.outcome ?? '', 64),
    reason: cleanLine(one.reason ?? '', 64),
    time: one.time ?? '',
  }))
  if (isEnd(phase) ? ended.length > 0 : attempt === 0) return ended
  const last = {
    ...base,
    attempt,
    from: cleanLine(fromVersion ?? '', 64),
    outcome: cleanLine(isEnd(phase) ? (outcome ?? phase) : phase, 64),
    reason: cleanLine(reason ?? task.spec.reason ?? '', 64),
    time: completionTime ?? '',
  }
  return ended.some((one) => one.attempt === attempt) ? ended : [...ended, last]
}

/** What KubeEdge's annotation says; undefined when there is no such node, empty when it says nothing or may not be read. */
async function versionsOf(cluster: Cluster, name: string): Promise<string | undefined> {
  try {
    const { metadata } = await cluster.node(name)
    return cleanLine(metadata.annotations?.[HISTORY_ANNOTATION] ?? '')
      .replaceAll(';', ', ')
      .replaceAll('->', ' to ')
  } catch (error) {
    if (error instanceof NotFoundError || (error instanceof KubeError && error.isForbidden)) return undefined
    throw error
  }
}
