import { InvariantError, type Logger } from '@upgrade-hub/core'
import type { EdgeConfig } from './config.ts'

export interface LaunchOptions {
  readonly config: EdgeConfig
  readonly configPath: string
  /** HistoryID of the attempt. */
  readonly id: string
  /** How edgeadm is run: an absolute program and its first arguments. */
  readonly edgeadm: readonly [string, ...string[]]
  readonly log: Logger
  /** Added to the allow-listed environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts an updater that outlives us: a transient unit of its own, or a session of its own. */
export function launchUpdater(_options: LaunchOptions): Promise<void> {
  throw new InvariantError('not there yet')
}
