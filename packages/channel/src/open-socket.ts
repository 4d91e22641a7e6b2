import type { IncomingMessage } from 'node:http'
import { type Clock, messageOf } from '@upgrade-hub/core'
import { DEFAULT_PROJECT_ID, LIMITS } from '@upgrade-hub/protocol'
import { WebSocket } from 'ws'
import { ChannelError } from './errors.ts'
import { SOCKET_OPTIONS } from './link.ts'

/** PEM texts of the edge's TLS identity. */
export interface EdgeTls {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const MAX_REFUSAL_CHARS = 4_096

/**
 * Opens the WebSocket with mutual TLS, within the handshake time, and hands it to `attach` before it can say a word.
 * @throws ChannelError CHANNEL_REFUSED (details: status, retryAfterMs), CHANNEL_TIMEOUT, CHANNEL_CONNECT
 */
export function openSocket<T>(
  options: { url: string; nodeName: string; tls: EdgeTls; clock: Clock; signal: AbortSignal },
  attach: (ws: WebSocket) => T,
): Promise<T> {
  const ws = newSocket(options)
  return new Promise<T>((resolve, reject) => {
    const fail = (error: ChannelError) => {
      release()
      reject(error)
      ws.terminate()
    }
    const onError = (cause: Error) => fail(connectError(cause))
    const onAbort = () => fail(new ChannelError('CHANNEL_CONNECT', 'stopped'))
    const timer = options.clock.after(LIMITS.handshakeTimeoutMs, () =>
      fail(new ChannelError('CHANNEL_TIMEOUT', 'the hub did not answer in time', { retry: 'backoff' })),
    )
    const release = () => {
      timer.cancel()
      options.signal.removeEventListener('abort', onAbort)
      ws.off('error', onError)
    }
    options.signal.addEventListener('abort', onAbort, { once: true })
    // A socket that is given up may report more than one error, and one without a listener ends the process.
    ws.on('error', () => undefined)
    ws.on('error', onError)
    ws.once('unexpected-response', (_, response) => void readRefusal(response).then(fail))
    ws.once('open', () => {
      release()
      resolve(attach(ws))
    })
  })
}

function newSocket(options: { url: string; nodeName: string; tls: EdgeTls }): WebSocket {
  const { url, nodeName, tls } = options
  return new WebSocket(`${url.replace(/\/$/, '')}/${DEFAULT_PROJECT_ID}/${nodeName}/events`, {
    ...SOCKET_OPTIONS,
    ...tls,
    minVersion: 'TLSv1.2',
    followRedirects: false,
    maxHeaderSize: 16 * 1024,
    headers: { node_id: nodeName, project_id: DEFAULT_PROJECT_ID },
  })
}

function connectError(cause: Error): ChannelError {
  const code = 'code' in cause ? `${String(cause.code)}: ` : ''
  return new ChannelError('CHANNEL_CONNECT', `${code}${messageOf(cause)}`, { retry: 'backoff', cause })
}

/** Reads the code of a refusal and no more than that: the other side may send without end. */
async function readRefusal(response: IncomingMessage): Promise<ChannelError> {
  let text = ''
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk as string
      if (text.length > MAX_REFUSAL_CHARS) break
    }
  } catch (error) {
    text = messageOf(error)
  }
  const status = response.statusCode ?? 0
  const retryAfter = Number(response.headers['retry-after'])
  return new ChannelError('CHANNEL_REFUSED', `the hub answered ${status} ${codeIn(text)}`, {
    retry: 'backoff',
    details: { status, ...(retryAfter >= 0 ? { retryAfterMs: retryAfter * 1000 } : {}) },
  })
}

function codeIn(text: string): string {
  return /"code":\s*"([A-Za-z_]{1,64})"/.exec(text)?.[1] ?? ''
}
