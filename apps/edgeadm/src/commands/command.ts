import type { ParseArgsOptionsConfig } from 'node:util'
import type { Clock, Logger } from '@upgrade-hub/core'
import type { ProxySettings } from '@upgrade-hub/oci'
import type { EdgeConfig } from '@upgrade-hub/upgrader'

/** What a command gets. */
export interface CommandContext {
  readonly values: Readonly<Record<string, string | boolean | undefined>>
  readonly clock: Clock
  readonly log: Logger
  /** Tests end this process at named points of an attempt. */
  readonly at: (point: string) => Promise<void>
  /** What the environment says of proxies. */
  readonly proxy: ProxySettings | undefined
  /** Tells systemd, where it waits for it, that the units behind this one may start; once is enough. */
  readonly ready: () => Promise<void>
  /** The configuration that `--config` names. @throws ConfigError */
  readonly config: () => Promise<EdgeConfig>
  /** Prints the answer: `text` for people, `data` with `--output json`. */
  readonly print: (text: string, data: unknown) => void
  /** Asks a person; no without a terminal. */
  readonly ask: (question: string) => Promise<boolean>
}

/** A row of the command table. */
export interface Command {
  /** One or two words, as in keadm. */
  readonly name: string
  readonly summary: string
  /** Beside `--config`, `--output` and `--help`, which all have. */
  readonly options: ParseArgsOptionsConfig
  /** One line for each option. */
  readonly help: readonly string[]
  /** @returns an exit code of `EXIT` */
  readonly run: (context: CommandContext) => Promise<number>
}
