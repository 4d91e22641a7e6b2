import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { type Clock, type Logger, noMetrics, silentLogger } from '@upgrade-hub/core'
import { createCa, createNodeCsr, identityOf } from '@upgrade-hub/pki'
import { DEFAULT_PROJECT_ID, encodeFrame, type Hello, LIMITS, type Welcome } from '@upgrade-hub/protocol'
import { vi } from 'vitest'
import { type AcceptOptions, acceptSessions, type SessionGate } from '../accept.ts'
import type { EdgeSession } from '../edge-session.ts'
import type { EdgeTls } from '../open-socket.ts'
import { SESSION_SERVER_OPTIONS } from '../server-options.ts'

export const HELLO: Hello = {
  protocol: 1,
  capabilities: [],
  node: { bootID: 'boot', machineID: 'machine', timeZone: 'UTC' },
  edgeVersion: 'v0.1.0',
  hubVersion: 'v0.1.0',
  platform: { os: 'linux', arch: 'amd64' },
  probe: { version: 'v1.20.0', bootID: 'boot' },
  open: [],
  undelivered: 0,
}

export const WELCOME: Welcome = {
  heartbeatSeconds: LIMITS.heartbeatMs / 1000,
  nodeUID: 'uid',
  open: [],
  limits: { maxFrameBytes: LIMITS.maxFrameBytes },
}

/** Waits for what another event loop does; generous, because the machine may be busy. */
export function until(condition: () => boolean): Promise<unknown> {
  return vi.waitUntil(condition, { interval: 5, timeout: 10_000 })
}

/** A CA, a hub's server certificate and as many edges as a test wants. Made once, because keys cost time. */
export async function makePki() {
  const ca = await createCa({ commonName: 'test', validDays: 1 })
  const server = await ca.issueServer({ dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], validDays: 1 })
  const edge = async (nodeName: string): Promise<EdgeTls> => {
    const { csrDer, keyPem } = await createNodeCsr({ nodeName })
    const { certPem } = await ca.signNodeCsr(csrDer, { nodeName, validSeconds: 3600 })
    return { ca: ca.certPem, cert: certPem, key: keyPem }
  }
  return { ca, server, edge }
}
export type TestPki = Awaited<ReturnType<typeof makePki>>

export interface TestHub {
  readonly gate: SessionGate
  readonly server: Server
  readonly port: number
  readonly url: string
  readonly sessions: EdgeSession[]
  readonly conflicts: string[]
  stop(): Promise<void>
}

/** A hub on a free port of the loopback that welcomes every node of its CA. */
export async function startHub(
  pki: TestPki,
  options: Partial<AcceptOptions> & { clock: Clock; log?: Logger; port?: number; tls?: object },
): Promise<TestHub> {
  const server = createServer({
    ...SESSION_SERVER_OPTIONS,
    ca: pki.ca.certPem,
    cert: pki.server.certPem,
    key: pki.server.keyPem,
    ...options.tls,
  })
  const sessions: EdgeSession[] = []
  const conflicts: string[] = []
  const gate = acceptSessions({
    server,
    authorize: (_, certificate) =>
      Promise.resolve(identityOf(certificate) ?? { status: 403, code: 'NOT_A_NODE', message: 'not a node' }),
    welcome: () => Promise.resolve(WELCOME),
    onSession: (session) => sessions.push(session),
    onConflict: (nodeName, kind) => conflicts.push(`${nodeName} ${kind}`),
    log: silentLogger,
    metrics: noMetrics,
    ...options,
  })
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    await gate.close(0)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { gate, server, port, url: `wss://127.0.0.1:${port}`, sessions, conflicts, stop }
}

/** A TLS connection that a test writes raw bytes into. */
export class RawClient {
  readonly socket: TLSSocket
  received = Buffer.alloc(0)
  /** Shows life: an unasked pong for everything that comes. */
  pongs = false

  constructor(port: number, tls: EdgeTls) {
    this.socket = connectTls({ host: '127.0.0.1', port, ...tls })
    this.socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk])
      if (this.pongs) this.frame(0x8a, Buffer.alloc(0))
    })
    this.socket.on('error', () => undefined)
  }

  get closed(): Promise<unknown> {
    if (this.socket.destroyed) return Promise.resolve()
    return new Promise((resolve) => this.socket.once('close', resolve))
  }

  /** The handshake of node `nodeName`, with what a test wants different. */
  upgrade(
    nodeName: string,
    more: { path?: string; headers?: readonly string[]; nodeId?: string } = {},
  ): void {
    this.socket.write(
      [
        `GET ${more.path ?? `/${DEFAULT_PROJECT_ID}/${nodeName}/events`} HTTP/1.1`,
        'Host: hub',
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        `node_id: ${more.nodeId ?? nodeName}`,
        ...(more.headers ?? []),
        '\r\n',
      ].join('\r\n'),
    )
  }

  text(text: string): void {
    this.frame(0x81, Buffer.from(text))
  }

  hello(hello: unknown = HELLO): void {
    this.text(encodeFrame({ operation: 'hello', content: hello }, 'edge', 0))
  }

  /** One masked frame with a zero mask; `first` is FIN, RSV and opcode. */
  frame(first: number, payload: Buffer): void {
    const length =
      payload.length < 126
        ? Buffer.from([0x80 | payload.length])
        : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 255])
    const long = Buffer.alloc(9)
    long[0] = 0x80 | 127
    long.writeBigUInt64BE(BigInt(payload.length), 1)
    this.socket.write(
      Buffer.concat([
        Buffer.from([first]),
        payload.length > 65_535 ? long : length,
        Buffer.alloc(4),
        payload,
      ]),
    )
  }

  /** The status of the answer to the handshake. */
  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.received.toString('latin1'))?.[1] ?? 0)
  }

  /** What the hub sent after the handshake, frame by frame; only lengths that the hub uses. */
  get frames(): { opcode: number; payload: Buffer }[] {
    const frames = []
    let rest = this.received.subarray(this.received.indexOf('\r\n\r\n') + 4)
    while (rest.length >= 2) {
      const short = (rest[1] ?? 0) & 0x7f
      const head = short < 126 ? 2 : 4
      const length = short < 126 ? short : rest.readUInt16BE(2)
      if (rest.length < head + length) break
      frames.push({ opcode: (rest[0] ?? 0) & 15, payload: rest.subarray(head, head + length) })
      rest = rest.subarray(head + length)
    }
    return frames
  }

  /** Code and reason of the close frame, once there is one. */
  get close(): { code: number; reason: string } | undefined {
    const payload = this.frames.find(({ opcode }) => opcode === 8)?.payload
    return payload && { code: payload.readUInt16BE(0), reason: payload.subarray(2).toString() }
  }
}
