import { backoffMs, type Clock, HubError, type Logger, messageOf } from '@upgrade-hub/core'
import { slept } from '../slept.ts'

const RETRY = { baseMs: 1_000, maxMs: 15_000 }

export interface Patience {
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Does what needs the API server, again and again while that is away: a hub that starts before it must not depend on who
 * starts the hub again. @throws what will not pass by waiting; the reason of the signal
 */
export async function patiently<T>(what: () => Promise<T>, { clock, log, signal }: Patience): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await what()
    } catch (error) {
      if (!(error instanceof HubError) || error.retry === 'never') throw error
      log.warn({ error: messageOf(error) }, 'the API server is not there yet')
      if (!(await slept(clock, RETRY.baseMs + backoffMs(RETRY, tries), signal))) throw signal.reason
    }
  }
}
