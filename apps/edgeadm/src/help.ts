import type { Command } from './commands/command.ts'
import { DEFAULT_CONFIG_PATH } from './config.ts'

const EXIT_CODES = `Exit codes:
  0   done            1   nothing was changed (refused, failed before the stop, cancelled)
  2   wrong usage     3   failed, and the old agent runs again
  4   failed, and the way back failed too: this node needs a person
  5   the state on disk could not be read; the agent that was there was kept
  70  something unexpected; the message says what
  75  another command is at work: try again      78  the configuration is not valid`

/** The help of one command, or of all. */
export function helpText(commands: readonly Command[], of?: Command): string {
  const common = [`--config FILE   default ${DEFAULT_CONFIG_PATH}`, '--output json   for programs', '--help']
  if (of) return [`edgeadm ${of.name}: ${of.summary}`, '', ...indent([...of.help, ...common])].join('\n')
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `${name.padEnd(width)}  ${summary}`)
  return [
    'edgeadm: upgrades the agent of this node',
    '',
    ...indent(list),
    '',
    ...indent([...common, '--version']),
    '',
    EXIT_CODES,
  ].join('\n')
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`)
}
