import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { SERVER } from '@upgrade-hub/kube/testing'

/** An HTTPS server that answers every request with the object it was sent: what a write costs without a Kubernetes. */
let handshakes = 0
const server = createServer({ cert: SERVER.cert, key: SERVER.key }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = request.method === 'GET' ? JSON.stringify({ handshakes }) : Buffer.concat(chunks)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
  })
})
server.on('secureConnection', () => {
  handshakes += 1
})
server.listen(0, '127.0.0.1', () => console.log(`port ${(server.address() as AddressInfo).port}`))
