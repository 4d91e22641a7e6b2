import { readFileSync } from 'node:fs'
import { WebSocket } from 'ws'

/** The least that a client of the hub can be: Node, `ws`, one hello, and a keepalive from time to time. */
const { url, headers, certificates, hello, keepalive } = JSON.parse(
  readFileSync(process.argv[2] ?? '', 'utf8'),
) as {
  url: string
  headers: Record<string, string>
  certificates: { ca: string; cert: string; key: string }
  hello: string
  keepalive: string
}

const ws = new WebSocket(url, {
  headers,
  ca: readFileSync(certificates.ca),
  cert: readFileSync(certificates.cert),
  key: readFileSync(certificates.key),
  perMessageDeflate: false,
})
ws.on('open', () => {
  ws.send(hello)
  setInterval(() => ws.send(keepalive), 15_000)
})
