import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, json } from 'node:stream/consumers'
import {
  acceptSessions,
  type EdgeSession,
  SESSION_SERVER_OPTIONS,
  type SessionGate,
} from '@upgrade-hub/channel'
import { noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import { type Ca, createCa, createNodeCsr, type Issued, identityOf } from '@upgrade-hub/pki'
import type {
  Answer,
  Frame,
  Hello,
  Prepare,
  Proceed,
  Progress,
  Result,
  TaskRef,
  Welcome,
} from '@upgrade-hub/protocol'
import { vi } from 'vitest'

const NODE = 'edge-1'

export type Intent = Prepare | Proceed | TaskRef

/** Waits for what other processes do; generous, because the machine may be busy. */
export function until(condition: () => boolean): Promise<unknown> {
  return vi.waitUntil(condition, { interval: 20, timeout: 30_000 })
}

/** How the hub behaves; a test changes it at any time. */
export interface Manners {
  nodeUID: string
  verdict: Welcome['open'][number]['verdict']
  /** The status of `POST /nodeupgrade`; 0 breaks the connection. */
  resultStatus: number
  /** Stores results, and breaks the connection in place of an answer. */
  losesAnswers: boolean
  /** Whether a frame `result` is answered `stored`. */
  storesFrames: boolean
}

/** A hub that stores nothing in Kubernetes: both its servers, its CA, and a memory of all that an edge said. */
export class FakeHub {
  readonly manners: Manners = {
    nodeUID: 'node-uid',
    verdict: 'continue',
    resultStatus: 200,
    losesAnswers: false,
    storesFrames: true,
  }
  readonly answers: Answer[] = []
  readonly progress: Progress[] = []
  readonly results: Result[] = []
  readonly hellos: Hello[] = []
  readonly probes: string[] = []
  readonly errors: Frame[] = []
  readonly ca: Ca
  readonly folder: string
  readonly #certificate: Issued
  #gate: SessionGate | undefined
  #sessions: Server | undefined
  #https: Server | undefined
  #ports: [number, number] = [0, 0]

  private constructor(parts: { ca: Ca; folder: string; certificate: Issued }) {
    this.ca = parts.ca
    this.folder = parts.folder
    this.#certificate = parts.certificate
  }

  static async start(): Promise<FakeHub> {
    const ca = await createCa({ commonName: 'test', validDays: 1 })
    const certificate = await ca.issueServer({ dnsNames: [], ipAddresses: ['127.0.0.1'], validDays: 1 })
    const hub = new FakeHub({ ca, certificate, folder: await mkdtemp(join(tmpdir(), 'edgehub-')) })
    await hub.open()
    return hub
  }

  get websocket(): string {
    return `wss://127.0.0.1:${this.#ports[0]}`
  }

  get https(): string {
    return `https://127.0.0.1:${this.#ports[1]}`
  }

  get session(): EdgeSession | undefined {
    return this.#gate?.sessions.get(NODE)
  }

  /** Both servers up, on the ports of the first time. */
  async open(): Promise<void> {
    const tls = { ca: this.ca.certPem, cert: this.#certificate.certPem, key: this.#certificate.keyPem }
    const sessions = createServer({ ...SESSION_SERVER_OPTIONS, ...tls })
    const https = createServer({ ...SESSION_SERVER_OPTIONS, ...tls }, (request, response) => {
      if (request.url === '/edge.crt') {
        void buffer(request)
          .then((csr) => this.ca.signNodeCsr(csr, { nodeName: NODE, validSeconds: 86_400 }))
          .then(({ certDer }) => response.end(certDer))
        return
      }
      if (this.manners.resultStatus === 0) return void request.socket.destroy()
      void json(request).then((result) => {
        if (this.manners.resultStatus === 200) this.results.push(result as Result)
        if (this.manners.losesAnswers) return void request.socket.destroy()
        response.writeHead(this.manners.resultStatus).end('ok')
      })
    })
    this.#gate = acceptSessions({
      server: sessions,
      authorize: (_, certificate) =>
        Promise.resolve(
          identityOf(certificate) ?? { status: 403, code: 'NOT_A_NODE', message: 'not a node' },
        ),
      welcome: (_, hello) => Promise.resolve(this.#welcome(hello)),
      onSession: (session) => this.#onSession(session),
      clock: systemClock,
      log: silentLogger,
      metrics: noMetrics,
    })
    this.#ports = [await listen(sessions, this.#ports[0]), await listen(https, this.#ports[1])]
    this.#sessions = sessions
    this.#https = https
  }

  /** Down at once, as if killed. */
  async kill(): Promise<void> {
    const servers = [this.#sessions, this.#https].filter((server) => server !== undefined)
    for (const server of servers) server.closeAllConnections()
    const closing = this.#gate?.close(0)
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    await closing
  }

  async stop(): Promise<void> {
    await this.kill()
    await rm(this.folder, { recursive: true })
  }

  /** A certificate for the node in files, as a join leaves them. */
  async enrol(validSeconds = 86_400): Promise<{ ca: string; cert: string; key: string }> {
    const { csrDer, keyPem } = await createNodeCsr({ nodeName: NODE })
    const { certPem } = await this.ca.signNodeCsr(csrDer, { nodeName: NODE, validSeconds })
    const files = {
      ca: join(this.folder, 'ca'),
      cert: join(this.folder, 'cert'),
      key: join(this.folder, 'key'),
    }
    await Promise.all([
      writeFile(files.ca, this.ca.certPem),
      writeFile(files.cert, certPem),
      writeFile(files.key, keyPem),
    ])
    return files
  }

  /** Sends an intent and waits for the next answer to it that is not `accepted`, or the first if `first`. */
  async ask(operation: string, content: Intent, wait: 'first' | 'last' = 'last'): Promise<Answer> {
    await until(() => this.session !== undefined)
    const from = this.answers.length
    this.session?.send(operation, `upgrade/job/node/${NODE}`, content)
    return this.answer(content, wait, from)
  }

  async answer(to: Intent, wait: 'first' | 'last' = 'last', from = 0): Promise<Answer> {
    const find = () =>
      this.answers
        .slice(from)
        .find(
          (one) =>
            one.Task === to.Task &&
            one.IntentSeq === to.IntentSeq &&
            (wait === 'first' || one.Value !== 'accepted'),
        )
    await until(() => find() !== undefined)
    return find() as Answer
  }

  resultOf(id: string): Result | undefined {
    return this.results.find(({ HistoryID }) => HistoryID === id)
  }

  #welcome(hello: Hello): Welcome {
    this.hellos.push(hello)
    const { nodeUID, verdict } = this.manners
    const open = hello.open.map(({ task, attempt }) => ({ task, attempt, verdict }))
    return { heartbeatSeconds: 15, nodeUID, open, limits: { maxFrameBytes: 262_144 } }
  }

  #onSession(session: EdgeSession): void {
    this.probes.push(session.probe.version)
    session.onProbe(({ version }) => this.probes.push(version))
    session.onFrame((frame) => {
      if (frame.operation === 'answer') this.answers.push(frame.content as Answer)
      else if (frame.operation === 'UpdateNodeActionStatus') this.progress.push(frame.content as Progress)
      else if (frame.operation === 'error') this.errors.push(frame)
      else if (frame.operation === 'result' && this.manners.storesFrames) {
        const result = frame.content as Result
        this.results.push(result)
        session.send('stored', frame.resource, { HistoryID: result.HistoryID }, { parentId: frame.msgId })
      }
    })
  }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
