import type { Clock } from '@upgrade-hub/core'
import type { Cluster } from '../cluster/cluster.ts'
import type { Terminal } from '../text/terminal.ts'
import type { Flags, FlagTypes } from './flags.ts'

/** What the words after a command name, for its completion. */
export type Argument = 'job' | 'node' | 'node or job' | 'new job' | 'nothing'

/** One thing that can be asked for. */
export interface Command {
  /** The verb; empty for a program that has only one. */
  readonly name: string
  /** What follows the name: `JOB`, `[JOB]`, `NODE…` */
  readonly usage: string
  readonly summary: string
  /** A flag a line, as `--flag VALUE   what it does`. */
  readonly help: readonly string[]
  readonly flags: FlagTypes
  /** Words that `--output` takes. */
  readonly formats: readonly string[]
  readonly argument: Argument
  /** @returns the exit code */
  run(context: Context): Promise<number>
}

/** All that a command may touch. */
export interface Context {
  readonly positionals: readonly string[]
  readonly flags: Flags
  readonly format: string | undefined
  readonly clock: Clock
  readonly terminal: Terminal
  /** Aborts when the user wants out. */
  readonly signal: AbortSignal
  /** Connects when it is first asked for: help and wrong usage need no cluster. */
  readonly cluster: () => Promise<Cluster>
  readonly readInput: () => Promise<string>
}
