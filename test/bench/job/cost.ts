import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** Writes of one user by kind of object, as the API server's own audit log counts them. */
export type Writes = Readonly<Record<string, number>>

const WRITE_VERBS = new Set(['create', 'update', 'patch', 'delete'])

interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly objectRef?: { readonly resource: string; readonly subresource?: string; readonly name?: string }
  readonly responseStatus?: { readonly code: number }
}

/** Reads the log from `fromByte`; a refused write counts apart, because it cost a request and stored nothing. */
export async function writesOf(auditLog: string, user: string, fromByte: number): Promise<Writes> {
  const counts: Record<string, number> = {}
  for await (const line of createInterface({ input: createReadStream(auditLog, { start: fromByte }) })) {
    const event = parse(line)
    if (!event || event.user.username !== user || !WRITE_VERBS.has(event.verb)) continue
    const code = event.responseStatus?.code ?? 0
    const name = [event.objectRef?.resource, event.objectRef?.subresource].filter(Boolean).join('/')
    const key = `${event.verb} ${name}${code >= 400 ? ` (${code})` : ''}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

function parse(line: string): AuditEvent | undefined {
  try {
    return JSON.parse(line) as AuditEvent
  } catch {
    // The last line may be cut while the server still writes it.
    return undefined
  }
}

/**
 * Sums of the API server's histograms, in bytes: what it was sent in writes, and what it sent to watchers.
 * @see https://kubernetes.io/docs/reference/instrumentation/metrics/
 */
export function bytesIn(metrics: string, resources: readonly string[]): number {
  let total = 0
  for (const line of metrics.split('\n')) {
    const match =
      /^(apiserver_request_body_size_bytes_sum|apiserver_watch_events_sizes_sum)\{(.*)\} (\S+)$/.exec(line)
    if (!match?.[2] || !match[3]) continue
    const labels = match[2]
    if (resources.some((resource) => labels.includes(`resource="${resource}`))) total += Number(match[3])
  }
  return total
}
