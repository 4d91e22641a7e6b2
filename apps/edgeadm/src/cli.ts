import { createInterface } from 'node:readline/promises'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { ConfigError, HubError, type Logger, messageOf, systemClock } from '@upgrade-hub/core'
import { EDGE_VERSION, LockHeldError, loadEdgeConfig, UnreadableError } from '@upgrade-hub/upgrader'
import type { Command, CommandContext } from './commands/command.ts'
import { DEFAULT_CONFIG_PATH, type Environment } from './config.ts'
import { EXIT } from './exit-codes.ts'
import { faultPoint } from './faults.ts'
import { helpText } from './help.ts'
import { readiness } from './readiness.ts'

/** Where a command line writes. */
export interface Output {
  out(text: string): void
  err(text: string): void
}

export interface CliOptions {
  readonly argv: readonly string[]
  readonly commands: readonly Command[]
  readonly environment: Environment
  readonly log: Logger
  readonly output: Output
}

const COMMON = {
  config: { type: 'string' },
  output: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

/** Runs one command line. Nothing is thrown: what went wrong is printed and is in the exit code. */
export async function runCli(options: CliOptions): Promise<number> {
  const { argv, commands, output } = options
  if (argv[0] === '--version') {
    output.out(EDGE_VERSION)
    return EXIT.ok
  }
  const command = findCommand(argv, commands)
  if (!command) {
    const asked = argv.length === 0 || argv.includes('--help') || argv.includes('-h')
    if (asked) output.out(helpText(commands))
    else output.err(`unknown command: ${argv.join(' ').slice(0, 200)}\n\n${helpText(commands)}`)
    return asked ? EXIT.ok : EXIT.usage
  }
  try {
    return await runCommand(command, options)
  } catch (error) {
    output.err(error instanceof HubError ? `${error.code}: ${error.message}` : messageOf(error))
    return exitCodeOfError(error)
  }
}

/** The command whose words the line begins with. */
function findCommand(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, at) => argv[at] === word))
}

async function runCommand(command: Command, options: CliOptions): Promise<number> {
  const { argv, commands, output, log, environment } = options
  const args = argv.slice(command.name.split(' ').length)
  const { values } = parseArgs({ args, options: { ...COMMON, ...command.options }, strict: true })
  const { config, output: format, help } = values as { config?: string; output?: string; help?: boolean }
  if (help) {
    output.out(helpText(commands, command))
    return EXIT.ok
  }
  const context: CommandContext = {
    values: values as CommandContext['values'],
    clock: systemClock,
    log,
    at: faultPoint(environment),
    proxy: environment.proxy,
    ready: readiness(environment),
    config: () => loadEdgeConfig(config ?? DEFAULT_CONFIG_PATH),
    print: (text, data) => output.out(format === 'json' ? JSON.stringify(data) : text),
    ask,
  }
  return command.run(context)
}

async function ask(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^y(es)?$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}

function exitCodeOfError(error: unknown): number {
  if (error instanceof LockHeldError) return EXIT.busy
  if (error instanceof ConfigError) return EXIT.config
  if (error instanceof UnreadableError) return EXIT.stateUnreadable
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'))
    return EXIT.usage
  return EXIT.unexpected
}
