import { isFinished } from '@upgrade-hub/rollout'
import type { Argument, Command } from '../cli/command.ts'
import type { Plugin } from '../cli/help.ts'
import type { Cluster } from '../cluster/cluster.ts'

const MOST = 500
/** cobra's word for: these are all, do not offer files as well. */
const NO_FILES = ':4'

/**
 * What may follow the words of a line, as kubectl asks of `kubectl_complete-…`: one a line, with a tab before what it means.
 * @see https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/ (plugin autocompletion)
 */
export async function completions(
  plugin: Plugin,
  words: readonly string[],
  open: () => Promise<Cluster>,
): Promise<string[]> {
  const last = words.at(-1) ?? ''
  if (words.length <= 1)
    return finish(
      plugin.commands.map(({ name, summary }) => `${name}\t${summary}`),
      last,
    )
  const command = plugin.commands.find(({ name }) => name === words[0])
  if (!command) return [NO_FILES]
  if (last.startsWith('-'))
    return finish(
      Object.keys(command.flags).map((flag) => `--${flag}`),
      last,
    )
  if (['-o', '--output'].includes(words.at(-2) ?? '')) return finish(command.formats, last)
  return finish(await names(argumentOf(command, words), open), last)
}

function argumentOf({ argument, flags }: Command, words: readonly string[]): Argument {
  const before = words.at(-2) ?? ''
  if (before === '--node' || before === '--exclude-node') return 'node'
  if (before === '--job') return 'job'
  const flag = before.startsWith('--') ? flags[before.slice(2)] : undefined
  return flag?.type === 'string' ? 'nothing' : argument
}

async function names(argument: Argument, open: () => Promise<Cluster>): Promise<string[]> {
  switch (argument) {
    case 'job':
      return (await (await open()).jobs(MOST)).map(
        (job) => `${job.metadata.name}\t${isFinished(job) ? 'over' : 'open'}`,
      )
    case 'node':
      return (await (await open()).nodes(MOST)).map(({ metadata }) => metadata.name)
    case 'node or job':
      return [...(await names('node', open)), ...(await names('job', open))]
    case 'new job':
    case 'nothing':
      return []
  }
}

function finish(all: readonly string[], begun: string): string[] {
  return [...all.filter((one) => one.startsWith(begun)), NO_FILES]
}
