import type { Command } from './command.ts'
import { EXIT_HELP } from './exit-codes.ts'

/** A program that kubectl runs: `kubectl nodeupgrade`, `kubectl create nodeupgradejob`. */
export interface Plugin {
  /** As it is typed. */
  readonly title: string
  readonly summary: string
  readonly commands: readonly Command[]
}

const COMMON = [
  '--kubeconfig FILE, --context NAME     which cluster, as for kubectl',
  '--as USER, --as-group GROUP           speak for somebody else',
  '--request-timeout DURATION            how long one request may take (default 15s)',
  '-h, --help',
]

/** The page of one command, or of the whole plugin. */
export function helpText(plugin: Plugin, of?: Command): string {
  return of ? commandPage(plugin, of) : pluginPage(plugin)
}

function commandPage({ title }: Plugin, { name, usage, summary, help, formats }: Command): string {
  const output = formats.length > 0 ? [`-o, --output ${formats.join('|')}`] : []
  return page([
    `${[title, name, usage].filter(Boolean).join(' ')}`,
    summary,
    '',
    ...indent([...help, ...output]),
    ...(help.length + output.length > 0 ? [''] : []),
    ...indent(COMMON),
    '',
    EXIT_HELP,
  ])
}

function pluginPage(plugin: Plugin): string {
  const { title, summary, commands } = plugin
  const [only] = commands
  if (only && commands.length === 1) return commandPage(plugin, only)
  const shown = commands.map(({ name, usage, summary }) => ({ left: `${name} ${usage}`.trim(), summary }))
  const width = Math.max(...shown.map(({ left }) => left.length))
  const list = shown.map(({ left, summary }) => `${left.padEnd(width)}  ${summary}`)
  return page([
    `${title}: ${summary}`,
    '',
    ...indent(list),
    '',
    ...indent(COMMON),
    '',
    `${title} VERB --help says more of one.`,
    '',
    EXIT_HELP,
  ])
}

function page(lines: readonly string[]): string {
  return lines.join('\n')
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`)
}
