import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { KubeError } from '@upgrade-hub/kube'
import { isEnd, slimNode, statusOf } from '@upgrade-hub/rollout'
import type { Command } from '../cli/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { jobFlag, nodeName, oneWord } from '../cluster/names.ts'
import { IDENTITIES } from '../cluster/resources.ts'
import { NotFoundError } from '../errors.ts'
import { printData } from '../text/data.ts'
import { type Known, whyText } from './why-text.ts'

/** Tasks of one node that are looked through. */
const MOST_TASKS = 500
const MOST_BUSY = 20

/** `why NODE` */
export const why: Command = {
  name: 'why',
  usage: 'NODE',
  summary: 'in one sentence why a node does not move',
  help: ['--job NAME   in this job; default: the open one, else the last'],
  flags: { job: { type: 'string' } },
  formats: ['json', 'yaml'],
  argument: 'node',
  async run({ positionals, flags, format, terminal, cluster: open }) {
    const name = nodeName(oneWord(positionals, 'why takes one node'))
    const known = await look(await open(), name, jobFlag(flags))
    const text = whyText(known)
    const { task } = known
    const data = {
      node: name,
      job: task?.spec.jobName ?? '',
      phase: task ? statusOf(task).phase : '',
      why: text,
    }
    if (!(await printData(terminal, format, () => data))) terminal.print(text)
    return known.isNodeReadable && !known.node && !task ? EXIT.notFound : EXIT.ok
  },
}

/** The newest task of a node that is open, else the newest. */
function taskOfInterest(tasks: readonly NodeUpgradeTask[]): NodeUpgradeTask | undefined {
  const newest = tasks.toSorted((a, b) => created(b).localeCompare(created(a)))
  return newest.find((task) => !isEnd(statusOf(task).phase)) ?? newest[0]
}

async function look(cluster: Cluster, name: string, job: string | undefined): Promise<Known> {
  const [tasks, node, identity] = await Promise.all([
    cluster.tasks({ node: name, job }, MOST_TASKS),
    readable(cluster.node(name)),
    readable(cluster.get(IDENTITIES, name)),
  ])
  const task = taskOfInterest(tasks)
  const [owner, busy] = task ? await ofJob(cluster, task.spec.jobName) : [undefined, []]
  return {
    name,
    node: node.found && slimNode(node.found),
    isNodeReadable: node.isReadable,
    task,
    job: owner,
    busy: busy.map(({ spec }) => spec.nodeName).filter((other) => other !== name),
    isEnrolled: identity.found !== undefined || !identity.isReadable,
    now: cluster.now(),
  }
}

async function ofJob(
  cluster: Cluster,
  job: string,
): Promise<[NodeUpgradeJob | undefined, NodeUpgradeTask[]]> {
  const [owner, busy] = await Promise.all([
    readable(cluster.job(job)),
    cluster.tasks({ job, phase: 'InProgress' }, MOST_BUSY),
  ])
  return [owner.found, busy]
}

/** What is not there, or not for this user to see, is no reason to say nothing. */
async function readable<T>(read: Promise<T>): Promise<{ found: T | undefined; isReadable: boolean }> {
  try {
    return { found: await read, isReadable: true }
  } catch (error) {
    if (error instanceof NotFoundError) return { found: undefined, isReadable: true }
    if (error instanceof KubeError && error.isNotFound) return { found: undefined, isReadable: true }
    if (error instanceof KubeError && error.isForbidden) return { found: undefined, isReadable: false }
    throw error
  }
}

function created({ metadata }: NodeUpgradeTask): string {
  return metadata.creationTimestamp ?? ''
}
