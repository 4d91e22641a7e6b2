import { type Clock, HubError, messageOf } from '@upgrade-hub/core'
import type { Cluster } from '../cluster/cluster.ts'
import { openCluster } from '../cluster/open.ts'
import { completions } from '../complete/complete.ts'
import { UsageError } from '../errors.ts'
import { clean } from '../text/clean.ts'
import type { Terminal } from '../text/terminal.ts'
import type { Command, Context } from './command.ts'
import { EXIT, exitCodeOfError } from './exit-codes.ts'
import { parseFlags } from './flags.ts'
import { helpText, type Plugin } from './help.ts'

export interface RunOptions {
  readonly plugin: Plugin
  readonly argv: readonly string[]
  readonly clock: Clock
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly open?: typeof openCluster
  readonly readInput: () => Promise<string>
}

/** Runs one command line to its exit code. Nothing is thrown: what went wrong is said. */
export async function runPlugin(options: RunOptions): Promise<number> {
  const { terminal, signal } = options
  try {
    return await dispatch(options)
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted
    terminal.error(clean(sentenceOf(error)))
    return exitCodeOfError(error)
  }
}

async function dispatch({ plugin, argv, ...options }: RunOptions): Promise<number> {
  if (argv[0] === COMPLETE) return complete(plugin, argv.slice(1), options)
  const single = plugin.commands.length === 1
  const [verb = '', ...rest] = single ? ['', ...argv] : argv
  if (!single && ['', '-h', '--help', 'help'].includes(verb)) {
    options.terminal.print(helpText(plugin))
    return EXIT.ok
  }
  const command = plugin.commands.find(({ name }) => name === verb)
  if (!command) throw new UsageError(`unknown verb ${verb}: ${plugin.title} --help lists them`)
  return runCommand(plugin, command, { ...options, argv: rest })
}

/** What the launchers `kubectl_complete-…` ask with. */
const COMPLETE = '__complete'

/** A completion that fails offers nothing: the person is in the middle of a line. */
async function complete(
  plugin: Plugin,
  words: readonly string[],
  { clock, terminal, signal, open = openCluster }: Omit<RunOptions, 'plugin' | 'argv'>,
): Promise<number> {
  const { flags } = parseFlags([], {})
  let cluster: Promise<Cluster> | undefined
  const once = () => (cluster ??= open(flags, { clock, signal }))
  const lines = await completions(plugin, words, once).catch(() => [])
  terminal.print(lines.join('\n'))
  await cluster?.then((opened) => opened.close()).catch(() => undefined)
  return EXIT.ok
}

async function runCommand(
  plugin: Plugin,
  command: Command,
  { argv, clock, terminal, signal, open = openCluster, readInput }: Omit<RunOptions, 'plugin'>,
): Promise<number> {
  const { positionals, flags } = parseFlags(argv, command.flags)
  if (flags.isSet('help')) {
    terminal.print(helpText(plugin, command))
    return EXIT.ok
  }
  const format = flags.oneOf('output', command.formats)
  let cluster: ReturnType<typeof open> | undefined
  const context: Context = {
    positionals,
    flags,
    format,
    clock,
    terminal,
    signal,
    cluster: () => (cluster ??= open(flags, { clock, signal })),
    readInput,
  }
  try {
    return await command.run(context)
  } finally {
    // A cluster that could not be opened has said so already.
    await cluster?.then((opened) => opened.close()).catch(() => undefined)
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof HubError) return `${error.code}: ${error.message}`
  return `unexpected: ${messageOf(error)}`
}
