import { askEdgehub } from '../control/ask.ts'
import { controlSocket } from '../control/request.ts'
import { StepError } from '../errors.ts'
import type { StepContext } from './context.ts'

/** The one component that the hub talks to. */
const EDGEHUB = 'edgehub'
const POLL_MS = 250

/**
 * A new edgehub is good only once it has its session with the hub: one that cannot reach it could never be told to go
 * back. Other components need none. It waits as long as the stage lasts. @throws StepError HealthFailed
 */
export async function proveSession({
  component,
  config,
  clock,
  service,
  signal,
}: StepContext): Promise<void> {
  if (component.name !== EDGEHUB) return
  const path = controlSocket(config)
  while (!(await hasSession(path))) {
    if (!(await service.state()).running)
      throw new StepError('HealthFailed', 'it ended before it reached the hub')
    await clock.sleep(POLL_MS, signal)
  }
}

async function hasSession(path: string): Promise<boolean> {
  const answer = await askEdgehub(path, { verb: 'status' }).catch(() => undefined)
  const session = answer?.data['session'] as { readonly state?: string } | undefined
  return session?.state === 'open'
}
