import type { Command } from '../cli/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import { cleanLine } from '../text/clean.ts'
import { printData } from '../text/data.ts'
import { table } from '../text/table.ts'
import type { Color } from '../text/terminal.ts'
import { admission, clock, leader, schema, version, webhooks } from './cluster-checks.ts'
import { type Check, type Finding, findingsOf } from './finding.ts'
import { edges, holds, jobs, kubeEdgeWebhooks, rights, silent } from './fleet-checks.ts'

const CHECKS: readonly Check[] = [
  ...[version, clock, schema, leader, webhooks, admission],
  ...[kubeEdgeWebhooks, jobs, holds, edges, silent, rights],
]

const COLORS: Readonly<Record<Finding['state'], Color>> = {
  ok: 'green',
  warning: 'yellow',
  problem: 'red',
  unknown: 'dim',
}

/** `doctor` */
export const doctor: Command = {
  name: 'doctor',
  usage: '',
  summary: 'looks at everything that keeps jobs from moving, and says how to mend it; writes nothing',
  help: [],
  flags: {},
  formats: ['json', 'yaml'],
  argument: 'nothing',
  async run({ format, terminal, cluster: open }) {
    const cluster = await open()
    // The first question is asked alone: when the server is not there, that is the only finding.
    await cluster.raw('/version')
    const findings = (await Promise.all(CHECKS.map((check) => findingsOf(check, cluster)))).flat()
    if (!(await printData(terminal, format, () => findings))) {
      const rows = findings.map(({ about, state, message }) => [
        terminal.paint(COLORS[state], state),
        about,
        cleanLine(message, 300),
      ])
      const fixes = findings.filter(({ fix }) => fix !== '').map(({ about, fix }) => `${about}: ${fix}`)
      terminal.print(
        [
          ...table(['STATE', 'ABOUT', 'FINDING'], rows),
          ...(fixes.length > 0 ? ['', 'What to do:', ...fixes.map((fix) => `  ${fix}`)] : []),
        ].join('\n'),
      )
    }
    return findings.some(({ state }) => state === 'problem') ? EXIT.failed : EXIT.ok
  },
}
