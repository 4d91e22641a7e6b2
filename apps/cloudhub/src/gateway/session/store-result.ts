import type { Reports } from '../reports/reports.ts'
import type { StoreResult } from '../routes/results.ts'
import type { Sessions } from '../sessions.ts'
import { seenIn } from './seen.ts'

/** Stores what was posted, with what the node's session on this replica says of the agent, if there is one. */
export function storeOf(options: {
  reports: Pick<Reports, 'result'>
  sessions: Pick<Sessions, 'of'>
  serverNow: () => number
}): StoreResult {
  const { reports, sessions, serverNow } = options
  return (nodeName, task, report) => {
    const session = sessions.of(nodeName)
    if (!session) return reports.result(nodeName, task, report)
    return reports.result(nodeName, task, { ...report, probe: seenIn(session, serverNow) })
  }
}
