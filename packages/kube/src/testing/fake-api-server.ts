import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { ClusterAccess } from '../access.ts'
import { collectionPath } from '../paths.ts'
import type { Resource } from '../resources.ts'
import type { KubeObject } from '../types.ts'
import { SERVER, type TestServerCertificate } from './certificates.ts'
import { type FakeObject, FakeObjects } from './fake-objects.ts'
import { type FakeRequest, readRequest } from './fake-request.ts'
import { answer, type FakeAnswer, refuse } from './fake-verbs.ts'
import { type OpenWatch, openWatch, type WatchListMode } from './fake-watch.ts'

/** What happens to a request instead of an answer. `lost`: it is done, but the answer never comes. */
export type Fault = FakeAnswer | 'reset' | 'hang' | 'lost'

interface PlannedFault {
  readonly matches: (request: FakeRequest) => boolean
  readonly fault: Fault
  left: number
}

const TOKEN = 'test-token'

/** A small, strict Kubernetes API server over HTTPS on loopback that breaks on demand. */
export class FakeApiServer implements AsyncDisposable {
  readonly objects = new FakeObjects()
  readonly requests: FakeRequest[] = []
  /** Watches that are open now, oldest first. */
  readonly watches: OpenWatch[] = []
  /** Bearer tokens that are let in. */
  readonly tokens = new Set([TOKEN])
  watchList: WatchListMode = 'served'
  /** The server's clock, for the Date of its answers. */
  now: () => number = Date.now
  handshakes = 0
  readonly #server: Server
  readonly #faults: PlannedFault[] = []
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    server.on('secureConnection', (socket) => {
      this.handshakes += 1
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    server.on('request', (message: IncomingMessage, response: ServerResponse) => {
      this.#serve(message, response).catch(() => response.destroy())
    })
  }

  static async start(certificate: TestServerCertificate = SERVER): Promise<FakeApiServer> {
    const server = createServer({
      ...certificate,
      requestCert: true,
      rejectUnauthorized: false,
      keepAliveTimeout: 60_000,
    })
    const fake = new FakeApiServer(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return fake
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`
  }

  /** How a client gets in. */
  get access(): ClusterAccess {
    return {
      server: this.url,
      namespace: 'default',
      ca: { text: SERVER.ca },
      insecureSkipVerify: false,
      auth: { kind: 'bearer', token: { text: TOKEN } },
      impersonation: {},
    }
  }

  get openSockets(): number {
    return this.#sockets.size
  }

  /** Stores an object as if another client had written it. */
  put(of: Resource<unknown>, object: KubeObject): FakeObject {
    const collection = collectionPath(of, object.metadata.namespace)
    return this.objects.put(collection, `${collection}/${object.metadata.name}`, object as FakeObject)
  }

  remove(of: Resource<unknown>, name: string, namespace?: string): void {
    this.objects.delete(`${collectionPath(of, namespace)}/${name}`)
  }

  /** The next `times` requests that match meet the fault instead. */
  plan(fault: Fault, matches: (request: FakeRequest) => boolean = () => true, times = 1): void {
    this.#faults.push({ matches, fault, left: times })
  }

  /** Presents another certificate to connections from now on. */
  present(certificate: TestServerCertificate): void {
    this.#server.setSecureContext(certificate)
  }

  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(message)
    this.requests.push(request)
    response.sendDate = false
    response.setHeader('date', new Date(this.now()).toUTCString())
    const fault = this.#faultFor(request)
    if (fault === 'hang') return
    if (fault === 'reset') return void message.socket.destroy()
    if (fault === 'lost') {
      answer(this.objects, request)
      return void message.socket.destroy()
    }
    if (fault) return send(response, fault)
    if (!this.#isLetIn(message)) return send(response, refuse(401, 'Unauthorized', 'Unauthorized'))
    if (!request.isWatch) return send(response, answer(this.objects, request))
    this.#watch(request, response)
  }

  #watch(request: FakeRequest, response: ServerResponse): void {
    const watch = openWatch(this.objects, request, response, this.watchList)
    if ('status' in watch) return send(response, watch)
    this.watches.push(watch)
    response.on('close', () => this.watches.splice(this.watches.indexOf(watch), 1))
  }

  #isLetIn(message: IncomingMessage): boolean {
    const { authorization = '' } = message.headers
    if (this.tokens.has(authorization.replace(/^(Bearer|Basic) /, ''))) return true
    return 'authorized' in message.socket && message.socket.authorized === true
  }

  #faultFor(request: FakeRequest): Fault | undefined {
    const planned = this.#faults.find((one) => one.left > 0 && one.matches(request))
    if (planned) planned.left -= 1
    return planned?.fault
  }
}

function send(response: ServerResponse, { status, body, headers = {} }: FakeAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
}
