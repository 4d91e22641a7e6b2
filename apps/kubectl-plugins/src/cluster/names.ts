import type { Flags } from '../cli/flags.ts'
import { UsageError } from '../errors.ts'

const KINDS = {
  job: ['nodeupgradejob', 'nodeupgradejobs', 'nodeupgradejob.operations.kubeedge.io', 'nuj', 'job'],
  node: ['node', 'nodes', 'no'],
} as const
/** What the API server takes as a name of these kinds; also keeps a name from changing a path or a selector. */
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/
const MAX_NAME = 253

/** The only word after a verb; undefined when there is none. @throws UsageError with `usage` when there are more */
export function oneWord([word, ...more]: readonly string[], usage: string): string | undefined {
  if (more.length > 0) throw new UsageError(usage)
  return word
}

/** `spring` of `spring`, `nuj/spring`, `nodeupgradejob/spring`. @throws UsageError */
export function jobName(word: string | undefined): string {
  return nameOf('job', word)
}

/** The job that `--job` names. @throws UsageError */
export function jobFlag(flags: Flags): string | undefined {
  const word = flags.text('job')
  return word === undefined ? undefined : jobName(word)
}

/** `edge-1` of `edge-1` and `node/edge-1`. @throws UsageError */
export function nodeName(word: string | undefined): string {
  return nameOf('node', word)
}

/** What a word names, with its kind where it says one. @throws UsageError */
export function typedName(word: string | undefined): { kind: 'job' | 'node' | undefined; name: string } {
  if (word === undefined) throw new UsageError('name a node or a job')
  const kind = (['job', 'node'] as const).find((kind) => isOf(kind, word))
  return { kind, name: nameOf(kind ?? 'job', word) }
}

function nameOf(kind: 'job' | 'node', word: string | undefined): string {
  if (word === undefined) throw new UsageError(`name a ${kind}`)
  const name = isOf(kind, word) ? word.slice(word.indexOf('/') + 1) : word
  if (name.length <= MAX_NAME && NAME.test(name)) return name
  throw new UsageError(`${JSON.stringify(word.slice(0, 300))} is no name of a ${kind}`)
}

function isOf(kind: 'job' | 'node', word = ''): boolean {
  return KINDS[kind].some((known) => word.startsWith(`${known}/`))
}
