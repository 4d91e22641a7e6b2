import type { EdgeMessage } from './decision.ts'

/**
 * The messages with nothing in them but their verdicts, for a schema that refuses the rest: what ended and how is worth
 * more than why. Progress is left out.
 */
export function cutDown(messages: readonly EdgeMessage[]): EdgeMessage[] {
  return messages.flatMap((message): EdgeMessage[] => {
    switch (message.kind) {
      case 'progress':
        return []
      case 'answer': {
        const { IndexDigest: _, FromVersion: __, Platform: ___, ...body } = message.body
        return [{ ...message, body: { ...body, Reason: '' } }]
      }
      case 'result': {
        const { LogTail: _, FinishedAt: __, probe: ___, ...body } = message.body
        return [{ ...message, body: { ...body, Reason: '', FromVersion: '', ToVersion: '' } }]
      }
    }
  })
}
