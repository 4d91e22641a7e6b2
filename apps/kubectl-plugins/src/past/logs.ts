import { statusOf } from '@upgrade-hub/rollout'
import type { Command } from '../cli/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import { jobFlag, nodeName, oneWord } from '../cluster/names.ts'
import { NotFoundError } from '../errors.ts'
import { clean } from '../text/clean.ts'

const MOST_TASKS = 500

/** `logs NODE` */
export const logs: Command = {
  name: 'logs',
  usage: 'NODE',
  summary: 'the end of the log of the last attempt on a node that failed after it was told to proceed',
  help: ['--job NAME   of this job; default: the last that has a log'],
  flags: { job: { type: 'string' } },
  formats: [],
  argument: 'node',
  async run({ positionals, flags, terminal, cluster: open }) {
    const name = nodeName(oneWord(positionals, 'logs takes one node'))
    const job = jobFlag(flags)
    const cluster = await open()
    const tasks = await cluster.tasks({ node: name, job }, MOST_TASKS)
    const newest = tasks.toSorted((a, b) => lastWord(b).localeCompare(lastWord(a)))
    const task = newest.find((one) => statusOf(one).edge?.logTail)
    const { edge, reason = '', attempt = 0 } = task ? statusOf(task) : {}
    if (!task || !edge?.logTail) {
      throw new NotFoundError(
        `there is no log of ${name}: a node sends one when it failed after it was told to proceed; kubectl nodeupgrade why ${name} has the reason of what failed before`,
      )
    }
    terminal.error(clean(`${name}: job ${task.spec.jobName}, attempt ${attempt}, ${reason}`))
    terminal.print(clean(edge.logTail).trimEnd())
    return EXIT.ok
  },
}

function lastWord({
  metadata,
  status,
}: {
  metadata: { creationTimestamp?: string }
  status?: { completionTime?: string }
}): string {
  return status?.completionTime ?? metadata.creationTimestamp ?? ''
}
