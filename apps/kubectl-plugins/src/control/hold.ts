import { KEEP_CORDONED_ANNOTATION } from '@upgrade-hub/api'
import type { Command } from '../cli/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import { nodeName } from '../cluster/names.ts'
import { UsageError } from '../errors.ts'
import { DRY_RUN_FLAG, DRY_RUN_HELP, dryRunOf, dryRunSuffix } from './dry-run.ts'

const MAX_REASON = 1_024

/** `hold NODE…` */
export const hold: Command = {
  name: 'hold',
  usage: 'NODE…',
  summary: 'keep a node cordoned when its upgrade lets go of it, which kubectl cordon cannot say meanwhile',
  help: [
    '--reason TEXT   why, for those who find it later',
    '--remove        take it back; a node that is cordoned by now stays so: kubectl uncordon NODE',
    DRY_RUN_HELP,
  ],
  flags: { reason: { type: 'string' }, remove: { type: 'boolean' }, ...DRY_RUN_FLAG },
  formats: [],
  argument: 'node',
  async run({ positionals, flags, terminal, cluster: open }) {
    if (positionals.length === 0) throw new UsageError('name a node')
    const names = positionals.map(nodeName)
    const dryRun = dryRunOf(flags)
    const wanted = flags.isSet('remove') ? null : (flags.text('reason') ?? 'true').slice(0, MAX_REASON)
    const cluster = await open()
    for (const name of names) {
      const { metadata } = await cluster.node(name)
      const before = metadata.annotations?.[KEEP_CORDONED_ANNOTATION]
      const isSo = wanted === null ? before === undefined : before !== undefined && !flags.text('reason')
      if (!isSo && dryRun !== 'client') {
        await cluster.patchNode(
          name,
          { metadata: { annotations: { [KEEP_CORDONED_ANNOTATION]: wanted } } },
          dryRun === 'server',
        )
      }
      terminal.print(`node/${name} ${sentence(wanted, isSo)}${dryRunSuffix(dryRun)}`)
    }
    return EXIT.ok
  },
}

function sentence(wanted: string | null, isSo: boolean): string {
  if (wanted === null) return isSo ? 'was not to be kept cordoned' : 'is left as it was when its upgrade ends'
  return isSo ? 'is kept cordoned already' : 'stays cordoned when its upgrade ends'
}
