import type { Clock, Logger } from '@upgrade-hub/core'
import type { EdgeConfig } from '../config.ts'
import { LockHeldError } from '../errors.ts'
import { makeFolder } from '../host/durable.ts'
import { acquireLock, type Lock, releaseDead } from '../host/lock.ts'
import type { NodeLock } from '../steps/context.ts'
import { nodeLock } from '../store/paths.ts'

const POLL_MS = 200

interface Options {
  readonly config: EdgeConfig
  readonly id: string
  readonly clock: Clock
  readonly log: Logger
}

/** The node's lock as one updater takes it again and again. */
export function openNodeLock({ config, id, clock, log }: Options): NodeLock {
  let held: Lock | undefined
  return {
    take: async () => {
      if (held && (await held.isOurs())) return held
      await makeFolder(config.paths.etc, 0o755)
      held = await acquireLock(nodeLock(config), id, { clock, log })
      return held
    },
    drop: async () => {
      await held?.release()
      held = undefined
      await releaseDead(nodeLock(config), id)
    },
  }
}

/**
 * After the stop there is no way but on: waits for the lock as long as another attempt's prepare holds it, and does without
 * where it cannot be written, because an agent that stands still is worse.
 */
export async function takeLockAnyway(
  locks: NodeLock,
  { clock, log }: Pick<Options, 'clock' | 'log'>,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await locks.take()
      return
    } catch (error) {
      if (!(error instanceof LockHeldError)) {
        log.error({ err: error }, 'the lock cannot be written, going on without')
        return
      }
      if (tries === 0) log.warn({ err: error }, 'waiting for the lock')
      await clock.sleep(POLL_MS)
    }
  }
}
