import { ConfigError } from '@upgrade-hub/core'
import { environmentName, OVERRIDES } from '../config.ts'

/** What the program is asked to do, and the rest of its words. */
export type Command = {
  readonly name: 'run' | 'install-crds' | 'token create' | 'help'
  readonly args: readonly string[]
}

/** Reads the command; `run` when there is none. @throws ConfigError for one that does not exist */
export function readCommand(argv: readonly string[]): Command {
  if (argv.includes('--help') || argv.includes('-h')) return { name: 'help', args: [] }
  const [first, second] = argv
  if (first === undefined || first.startsWith('-')) return { name: 'run', args: argv }
  if (first === 'run' || first === 'install-crds') return { name: first, args: argv.slice(1) }
  if (first === 'token' && second === 'create') return { name: 'token create', args: argv.slice(2) }
  if (first === 'help') return { name: 'help', args: [] }
  throw new ConfigError('the command line', [
    `${first}: is no command; there are run, install-crds and token create`,
  ])
}

/** The text of `--help`, made from the settings themselves. */
export function helpText(): string {
  const settings = OVERRIDES.map(({ flag, kind, help }) => {
    const usage =
      kind === 'flag'
        ? `--[no-]${flag}`
        : `--${flag} ${kind === 'number' ? 'N' : kind === 'list' ? 'A,B' : 'TEXT'}`
    return `  ${usage.padEnd(28)} ${help} (${environmentName(flag)})`
  })
  return [
    'cloudhub [run]                  run the hub',
    'cloudhub install-crds           install or update the kinds of the hub in a cluster',
    'cloudhub token create --node N [--node M …] [--ttl 24h]',
    '                                print a bootstrap token for each edge, with which it alone may join',
    '',
    'Settings come from --config FILE (YAML), then the environment, then flags; the last wins.',
    '  --config FILE                the configuration file (UPGRADE_HUB_CONFIG)',
    '  --print-config               print the configuration that would be used, and end',
    ...settings,
  ].join('\n')
}
