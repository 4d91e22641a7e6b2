import { rfc3339 } from '@upgrade-hub/core'
import type { Reports } from '../reports/reports.ts'
import type { StoreResult } from '../routes/results.ts'
import type { Sessions } from '../sessions.ts'

/** Stores what was posted, with what the node's session on this replica says of the agent, if there is one. */
export function storeOf(options: {
  reports: Pick<Reports, 'result'>
  sessions: Pick<Sessions, 'of'>
  serverNow: () => number
}): StoreResult {
  const { reports, sessions, serverNow } = options
  return (nodeName, task, report) => {
    const probe = sessions.of(nodeName)?.probe
    if (!probe) return reports.result(nodeName, task, report)
    return reports.result(nodeName, task, { ...report, probe: { ...probe, time: rfc3339(serverNow()) } })
  }
}
