import { once } from 'node:events'
import { createServer, request as send } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** An HTTP proxy on loopback that takes both kinds of requests: whole URLs and CONNECT. */
export interface TestProxy {
  readonly host: string
  /** `{host}:{port}` of everything that was asked for. */
  readonly targets: readonly string[]
  /** Every header Proxy-Authorization. */
  readonly authorizations: readonly string[]
  /** Of all answers. */
  bytesToClient(): number
  stop(): Promise<void>
}

export async function startTestProxy(): Promise<TestProxy> {
  const targets: string[] = []
  const authorizations: string[] = []
  let bytes = 0
  const sockets = new Set<Socket>()
  const note = (target: string, authorization: string | undefined) => {
    targets.push(target)
    if (authorization !== undefined) authorizations.push(authorization)
  }
  const server = createServer((request, response) => {
    const { host, href } = new URL(request.url ?? '')
    note(host, request.headers['proxy-authorization'])
    const forward = send(href, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length)).pipe(response)
    })
    request.pipe(forward)
  })
  server.on('connect', (request, client: Socket) => {
    note(request.url ?? '', request.headers['proxy-authorization'])
    const { hostname, port } = new URL(`http://${request.url}`)
    const target = connect(Number(port), hostname, () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
    for (const socket of [client, target]) sockets.add(socket.on('error', () => socket.destroy()))
    target.on('data', (chunk: Buffer) => (bytes += chunk.length))
    client.pipe(target).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { host, targets, authorizations, bytesToClient: () => bytes, stop }
}
