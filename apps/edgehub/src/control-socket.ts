import { chmod, rm, stat } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { type Logger, messageOf } from '@upgrade-hub/core'
import { makeFolder } from '@upgrade-hub/upgrader'
import {
  askEdgehub,
  type ControlAnswer,
  type ControlRequest,
  parseControlRequest,
} from '@upgrade-hub/upgrader/control'
import { AlreadyRunningError, ControlSocketError } from './errors.ts'

const MAX_REQUEST_CHARS = 4_096
const MAX_CONNECTIONS = 8
const IDLE_MS = 10_000

export interface ControlSocketOptions {
  readonly path: string
  readonly perform: (request: ControlRequest) => Promise<ControlAnswer>
  readonly log: Logger
}

/**
 * Listens for `edgeadm ctl` until `close`. Its folder is ours alone, or it does not listen.
 * @throws AlreadyRunningError when another edgehub of this node answers there, ControlSocketError
 */
export async function openControlSocket(options: ControlSocketOptions): Promise<{ close(): void }> {
  const { path } = options
  if (await askEdgehub(path, { verb: 'status' }).catch(() => true)) throw new AlreadyRunningError(path)
  try {
    await makeOwnFolder(dirname(path))
    await rm(path, { force: true })
    const server = createServer((socket) => converse(socket, options))
    server.maxConnections = MAX_CONNECTIONS
    await listen(server, path)
    await chmod(path, 0o600)
    return { close: () => void server.close() }
  } catch (error) {
    throw new ControlSocketError(path, messageOf(error))
  }
}

async function makeOwnFolder(path: string): Promise<void> {
  await makeFolder(path, 0o700)
  await chmod(path, 0o700)
  const { uid } = await stat(path)
  if (uid !== process.getuid?.()) throw new ControlSocketError(path, 'its folder belongs to somebody else')
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}

/** One line in, one line out. */
function converse(socket: Socket, { perform, log }: ControlSocketOptions): void {
  let text = ''
  socket.setTimeout(IDLE_MS, () => socket.destroy())
  socket.on('error', (error) => log.debug({ error: messageOf(error) }, 'control connection broke'))
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    const end = text.indexOf('\n')
    if (end < 0 && text.length <= MAX_REQUEST_CHARS) return
    socket.pause()
    void answerTo(text.slice(0, end < 0 ? 0 : end), perform, log).then((answer) =>
      socket.end(`${JSON.stringify(answer)}\n`),
    )
  })
}

async function answerTo(
  line: string,
  perform: ControlSocketOptions['perform'],
  log: Logger,
): Promise<ControlAnswer> {
  try {
    const request = parseControlRequest(JSON.parse(line))
    const answer = await perform(request)
    if (request.verb !== 'status') log.info({ ...request, done: answer.done }, answer.message)
    return answer
  } catch (error) {
    return { done: false, message: messageOf(error), data: {} }
  }
}
