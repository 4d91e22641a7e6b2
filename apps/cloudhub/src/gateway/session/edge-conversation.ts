import type { EdgeSession } from '@upgrade-hub/channel'
import { HubError, type Logger, messageOf, parseHistoryId } from '@upgrade-hub/core'
import { type Answer, type Frame, OPERATION, type Progress, type Result } from '@upgrade-hub/protocol'
import { HttpError } from '../../errors.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import type { SessionIntents } from '../intents/session-intents.ts'
import type { Reports } from '../reports/reports.ts'
import { reportOf } from '../routes/results.ts'
import { seenIn } from './seen.ts'

export interface ConversationOptions {
  readonly session: EdgeSession
  readonly intents: SessionIntents
  readonly reports: Pick<Reports, 'answer' | 'progress' | 'result'>
  /** API-server time, ms. */
  readonly serverNow: () => number
  /** A result may need a look at the API server, so each node has a rate for them. */
  readonly results: RateLimiter
  readonly log: Logger
}

/** Takes what an edge says during one session: answers, progress and results. The rest of the frames are the channel's. */
export function converse(options: ConversationOptions): void {
  const { session, intents, reports, results } = options
  session.onFrame((frame) => {
    switch (frame.operation) {
      case OPERATION.answer: {
        const answer = frame.content as Answer
        intents.acknowledge(answer.Task, answer.IntentSeq)
        return reports.answer(session.nodeName, answer, session.hello.node.timeZone)
      }
      case OPERATION.progress:
        return reports.progress(session.nodeName, frame.content as Progress)
      case OPERATION.result:
        if (results.take(session.nodeName)) void takeResult(frame, options)
        return
      default:
        return options.log.debug(
          { operation: frame.operation },
          'a frame that only the hub sends was ignored',
        )
    }
  })
}

/** Says `stored` once it is; a refusal for good is said too, anything else is left for the edge to send again. */
async function takeResult(frame: Frame, options: ConversationOptions): Promise<void> {
  const { session, reports, log } = options
  const result = frame.content as Result
  const reply = (operation: string, content: object) =>
    session.send(operation, frame.resource, content, { parentId: frame.msgId })
  try {
    const { task, report } = understand(result, options)
    const outcome = await reports.result(session.nodeName, task, report)
    if (outcome.kind === 'stored') reply(OPERATION.stored, { HistoryID: result.HistoryID })
    else reply(OPERATION.error, { code: outcome.code, message: outcome.message })
  } catch (error) {
    const isFinal = error instanceof HubError && error.retry === 'never'
    log.warn(
      { node: session.nodeName, history: result.HistoryID, error: messageOf(error) },
      'result is not stored',
    )
    if (isFinal) reply(OPERATION.error, { code: error.code, message: error.message })
  }
}

function understand(result: Result, { session, serverNow }: ConversationOptions) {
  const history = parseHistoryId(result.HistoryID)
  if (!history) throw new HttpError(400, 'MALFORMED', 'HistoryID must be {task}.{attempt}')
  const probe = seenIn(session, serverNow)
  return { task: history.task, report: { ...reportOf(result, history.attempt), probe } }
}
