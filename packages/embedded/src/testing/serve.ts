import { silentLogger, systemClock } from '@upgrade-hub/core'
import { startEmbedded } from '../start.ts'

/** `serve.ts`: an embedded API in a process that a test kills; its settings come as JSON on stdin. */
interface Settings {
  readonly dataDir: string
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string }
  readonly token: string
}

const chunks: Buffer[] = []
for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk)
const { dataDir, tls, token } = JSON.parse(Buffer.concat(chunks).toString()) as Settings
const tokens = { [token]: { user: 'admin', groups: ['system:masters'] } }
const start = { dataDir, host: '127.0.0.1', port: 0, tls, tokens, clock: systemClock, log: silentLogger }
const api = await startEmbedded(start)
process.stdout.write(`${api.url}\n`)
