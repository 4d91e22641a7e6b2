import type { AttemptEvent } from '../machine/state.ts'
import { probeVersion } from '../probe.ts'
import type { StepContext } from '../steps/context.ts'

/**
 * The journal is lost, so nothing is known but what is there: the agent that is installed is kept, started if it does not
 * run, and asked for its version.
 */
export async function probeAfterLoss(
  context: Pick<StepContext, 'service' | 'component' | 'log' | 'inbox' | 'prepare'>,
  reason: string,
): Promise<AttemptEvent> {
  const { service, component, log, inbox, prepare } = context
  try {
    if (!(await service.state()).running) await service.start()
  } catch (error) {
    log.error({ err: error }, 'the agent could not be started')
  }
  const runningVersion = await probeVersion(component)
  const proceedSeq = (await inbox.permit().catch(() => undefined))?.intentSeq ?? 0
  return { type: 'unreadable', reason, runningVersion, prepareSeq: prepare.IntentSeq, proceedSeq }
}
