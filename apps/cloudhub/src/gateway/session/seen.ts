import type { EdgeSession } from '@upgrade-hub/channel'
import { rfc3339 } from '@upgrade-hub/core'
import type { ResultReport } from '../edge-status/decision.ts'

/** What a session says runs on its node: the agent as edgehub has asked it, and edgehub itself. */
export function seenIn(
  { probe, hello }: Pick<EdgeSession, 'probe' | 'hello'>,
  serverNow: () => number,
): NonNullable<ResultReport['probe']> {
  const { version, bootID } = probe
  return { version, bootID, edgehub: hello.edgeVersion, time: rfc3339(serverNow()) }
}
