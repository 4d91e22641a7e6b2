import { once } from 'node:events'
import { connect } from 'node:net'
import { Type } from '@upgrade-hub/core/schema'
import { CommandError } from '../errors.ts'
import { errnoOf } from '../host/durable.ts'
import { checker } from '../store/checker.ts'
import type { ControlAnswer, ControlRequest } from './request.ts'

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 1024 * 1024
/** No such socket, or one that a dead edgehub has left. */
const NOBODY = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR', 'EINVAL', 'ENAMETOOLONG'])

const checkAnswer = checker(
  Type.Object({ done: Type.Boolean(), message: Type.String(), data: Type.Object({}) }),
) as (value: unknown) => ControlAnswer

/** Asks the edgehub of this node; undefined when none listens. @throws CommandError when it does not answer */
export async function askEdgehub(path: string, request: ControlRequest): Promise<ControlAnswer | undefined> {
  const socket = connect(path)
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new CommandError('edgehub', 'it does not answer')))
  try {
    await once(socket, 'connect')
    socket.write(`${JSON.stringify(request)}\n`)
    let text = ''
    for await (const chunk of socket.setEncoding('utf8')) {
      text += chunk as string
      if (text.length > MAX_ANSWER_BYTES) throw new CommandError('edgehub', 'its answer has no end')
    }
    return checkAnswer(JSON.parse(text))
  } catch (error) {
    if (NOBODY.has(errnoOf(error) ?? '')) return undefined
    if (error instanceof CommandError) throw error
    throw new CommandError('edgehub', 'it did not answer in full')
  } finally {
    socket.destroy()
  }
}
