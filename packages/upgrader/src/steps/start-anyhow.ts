import type { StepContext } from './context.ts'
import { releaseAnyhow } from './proceed-steps.ts'

/**
 * Starts the agent that is there unless it runs. Nothing that stands beside it keeps it from being started, and nothing is
 * thrown: this is for where there is no other way left.
 */
export async function startAnyhow(
  context: Pick<StepContext, 'service' | 'log' | 'agentMayRun'>,
): Promise<void> {
  const { service, log, agentMayRun } = context
  await agentMayRun?.().catch((error: unknown) =>
    log.warn({ err: error }, 'who holds the agent back could not be told'),
  )
  await releaseAnyhow(context)
  try {
    if (!(await service.state()).running) await service.start()
  } catch (error) {
    log.error({ err: error }, 'the agent could not be started: this node needs a person')
  }
}
