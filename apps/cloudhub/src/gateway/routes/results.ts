import { type Clock, parseHistoryId } from '@upgrade-hub/core'
import { outcomeOf, ProtocolError, type Result, upgradeStatusOf, validate } from '@upgrade-hub/protocol'
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../errors.ts'
import { Gate } from '../../http/gate.ts'
import { RateLimiter } from '../../http/rate-limit.ts'
import type { HttpsApp } from '../../http/server.ts'
import type { RefusalCode, ResultReport } from '../edge-status/decision.ts'
import { callerOf } from './access.ts'

/** What became of a result: `stored` only when it was read back from the API server. */
export type ResultOutcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string }

/** Stores a result; throws when it cannot be said whether it is stored, so that the edge posts it again. */
export type StoreResult = (nodeName: string, task: string, report: ResultReport) => Promise<ResultOutcome>

const RESULTS_OF_A_NODE = { perSecond: 2, burst: 20 }
const IN_FLIGHT = { running: 64, waiting: 512 }
const RETRY = { retryAfterSeconds: 5 }

const STATUS: Readonly<Record<RefusalCode, number>> = {
  UNKNOWN_TASK: 404,
  NOT_YOURS: 403,
  NOT_DISPATCHED: 403,
  MISMATCH: 400,
  HISTORY_FULL: 413,
}

/** `POST /nodeupgrade`: KubeEdge's path and body. 200 `ok` means stored, now or by an earlier post of the same. */
export function serveResults(app: HttpsApp, { store, clock }: { store: StoreResult; clock: Clock }): void {
  const ofNode = new RateLimiter(RESULTS_OF_A_NODE, clock)
  const gate = new Gate(IN_FLIGHT)
  app.post('/nodeupgrade', { config: { access: 'node' } }, async (request, reply) => {
    const nodeName = callerOf(request)?.nodeName ?? ''
    if (!ofNode.take(nodeName)) throw new HttpError(503, 'BUSY', 'too many results of this node', RETRY)
    const { task, report } = readResult(request.body, nodeName)
    const outcome = await gate.run(() => store(nodeName, task, report))
    if (outcome.kind === 'refused') throw new HttpError(STATUS[outcome.code], outcome.code, outcome.message)
    return reply.type('text/plain').send('ok')
  })
}

/** Understands a body. @throws HttpError 400 MALFORMED, 403 NOT_YOURS */
function readResult(body: FastifyRequest['body'], nodeName: string): { task: string; report: ResultReport } {
  const result = parse(body)
  if (result.NodeName !== nodeName)
    throw new HttpError(403, 'NOT_YOURS', 'NodeName is not the node of the certificate')
  const history = parseHistoryId(result.HistoryID)
  if (!history) throw malformed('HistoryID must be {task}.{attempt}')
  return { task: history.task, report: reportOf(result, history.attempt) }
}

/** KubeEdge's own keadm sends only Status; ours also Outcome, and then both must say the same. @throws HttpError 400 */
export function reportOf(result: Result, attempt: number): ResultReport {
  const Outcome = result.Outcome ?? outcomeOf(result.Status)
  if (!Outcome) throw malformed('Status or Outcome must say how it ended')
  if (result.Status !== '' && result.Status !== upgradeStatusOf(Outcome)) {
    throw malformed('Status and Outcome contradict each other')
  }
  return { ...result, Outcome, attempt }
}

function parse(body: unknown): Result {
  try {
    const value: unknown = Buffer.isBuffer(body) ? JSON.parse(body.toString()) : undefined
    return validate('Result', value)
  } catch (error) {
    if (error instanceof ProtocolError) throw malformed(error.message)
    if (error instanceof SyntaxError) throw malformed('the body is no JSON')
    throw error
  }
}

function malformed(message: string): HttpError {
  return new HttpError(400, 'MALFORMED', message)
}
