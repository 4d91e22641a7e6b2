import type { Command } from '../cli/command.ts'
import { EXIT, exitCodeOfJob } from '../cli/exit-codes.ts'
import { jobName, oneWord } from '../cluster/names.ts'
import { printData } from '../text/data.ts'
import { jobTable } from './job-list.ts'
import { indexOf, jobReport } from './job-report.ts'
import { ALL_NODES, MOST_NODES, readTasks } from './read-tasks.ts'
import { heading, nodeTable } from './render.ts'

/** `status [JOB]`: where a job stands, those nodes first that need a person; or every job. */
export const status: Command = {
  name: 'status',
  usage: '[JOB]',
  summary: 'where a job stands, those nodes first that need attention; without a name, every job',
  help: ['--all   every node of the job, not only those that matter'],
  flags: { all: { type: 'boolean' } },
  formats: ['wide', 'json', 'yaml'],
  argument: 'job',
  async run({ positionals, flags, format, terminal, cluster: open }) {
    const word = oneWord(positionals, 'status takes one job')
    const name = word === undefined ? undefined : jobName(word)
    const cluster = await open()
    if (name === undefined) {
      const jobs = await cluster.jobs()
      const now = cluster.now()
      if (
        await printData(terminal, format, () =>
          jobs.map((job) => jobReport(job, indexOf([], now), { now, most: 0 })),
        )
      ) {
        return EXIT.ok
      }
      terminal.print(jobTable(jobs, now).join('\n'))
      return EXIT.ok
    }
    const all = flags.isSet('all')
    const job = await cluster.job(name)
    const tasks = await readTasks(cluster, name, all)
    const now = cluster.now()
    const report = jobReport(job, indexOf(tasks, now), { now, most: all ? ALL_NODES : MOST_NODES })
    if (!(await printData(terminal, format, () => report))) {
      const rows = nodeTable(report, terminal, { now, wide: format === 'wide' })
      terminal.print(
        [...heading(report, terminal, now), ...(rows.length > 0 ? ['', ...rows] : [])].join('\n'),
      )
    }
    return exitCodeOfJob(job)
  },
}
