import type { Command } from '../cli/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import { jobName, oneWord } from '../cluster/names.ts'
import { DRY_RUN_FLAG, DRY_RUN_HELP, dryRunOf, dryRunSuffix } from '../control/dry-run.ts'
import { printData } from '../text/data.ts'
import { JOB_FLAGS, JOB_FLAGS_HELP, jobFromFlags } from './job-flags.ts'

/** `kubectl create nodeupgradejob NAME …` */
export const create: Command = {
  name: '',
  usage: 'NAME --to-version VERSION (-l SELECTOR | --node NAME… | --all-nodes)',
  summary: 'makes a job that upgrades edge nodes',
  help: [...JOB_FLAGS_HELP, DRY_RUN_HELP],
  flags: { ...JOB_FLAGS, ...DRY_RUN_FLAG },
  formats: ['name', 'json', 'yaml'],
  argument: 'new job',
  async run({ positionals, flags, format, terminal, cluster }) {
    const name = jobName(oneWord(positionals, 'a job has one name'))
    const dryRun = dryRunOf(flags)
    const job = jobFromFlags(name, flags)
    const made = dryRun === 'client' ? job : await (await cluster()).createJob(job, dryRun === 'server')
    if (await printData(terminal, format, () => made)) return EXIT.ok
    const id = `nodeupgradejob.operations.kubeedge.io/${name}`
    terminal.print(format === 'name' ? id : `${id} created${dryRunSuffix(dryRun)}`)
    return EXIT.ok
  },
}
