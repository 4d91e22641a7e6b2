import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, silentLogger, systemClock } from '@upgrade-hub/core'
import { type Ca, createCa } from '@upgrade-hub/pki'
import { Agent, request } from 'undici'
import type { JsonObject } from '../json.ts'
import { type EmbeddedApi, type EmbeddedOptions, startEmbedded } from '../start.ts'

const TOKEN = 'admin-token'
export const MERGE = 'application/merge-patch+json'
export const JSON_PATCH = 'application/json-patch+json'

export type Body = JsonObject

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Body
}

export interface TestOptions
  extends Partial<Pick<EmbeddedOptions, 'history' | 'servicePorts' | 'dataDir' | 'port'>> {
  readonly clock?: Clock
}

/** An embedded API in this process, on a folder of its own, and a client that smooths nothing. */
export class TestApi {
  readonly dataDir: string
  readonly #api: EmbeddedApi
  readonly #agent: Agent
  readonly #own: boolean

  private constructor(api: EmbeddedApi, ca: Ca, dataDir: string, own: boolean) {
    this.#api = api
    this.dataDir = dataDir
    this.#own = own
    this.#agent = new Agent({ connect: { ca: ca.certPem } })
  }

  static async start({ dataDir, clock = systemClock, ...options }: TestOptions = {}): Promise<TestApi> {
    const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'embedded-'))
    const ca = await sharedCa()
    const tls = await serverTls(ca)
    const tokens = { [TOKEN]: { user: 'admin', groups: ['system:masters'] } }
    const start = { dataDir: folder, host: '127.0.0.1', port: 0, tls, tokens, clock, log: silentLogger }
    const api = await startEmbedded({ ...start, ...options }).catch((error: unknown) => {
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true })
      throw error
    })
    return new TestApi(api, ca, folder, dataDir === undefined)
  }

  get url(): string {
    return this.#api.url
  }

  kubeconfig(): string {
    return this.#api.kubeconfig()
  }

  async call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const answer = await request(this.#api.url + path, {
      method,
      dispatcher: this.#agent,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.body.text()
    return { status: answer.statusCode, headers: answer.headers, body: parse(text) }
  }

  async get(path: string): Promise<Body> {
    return (await this.call('GET', path)).body
  }

  async create(path: string, body: object): Promise<Body> {
    return expectStatus(await this.call('POST', path, body), 201)
  }

  async patch(path: string, body: object, type: string = MERGE): Promise<Body> {
    return expectStatus(await this.call('PATCH', path, body, { 'content-type': type }), 200)
  }

  async remove(path: string, options?: object): Promise<Body> {
    return expectStatus(await this.call('DELETE', path, options), 200)
  }

  /** The events of a watch as they come; ends with the stream, or when the consumer has enough. */
  async *watch(path: string, headers: Readonly<Record<string, string>> = {}): AsyncGenerator<Body> {
    const separator = path.includes('?') ? '&' : '?'
    const answer = await request(`${this.#api.url}${path}${separator}watch=1`, {
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    })
    let rest = ''
    for await (const chunk of answer.body) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield parse(line)
    }
  }

  /** Waits until a path answers with this status, as when a controller has still to clean up. */
  async until(path: string, status: number): Promise<Body> {
    for (let tries = 0; tries < 200; tries++) {
      const answer = await this.call('GET', path)
      if (answer.status === status) return answer.body
    }
    throw new Error(`${path} does not come to ${status}`)
  }

  /** Stops, and removes the folder where it is of this API alone. */
  async stop(): Promise<void> {
    await this.stopKeeping()
    if (this.#own) rmSync(this.dataDir, { recursive: true, force: true })
  }

  /** Stops the server alone: what it has sent can still be read. */
  async stopServer(): Promise<void> {
    await this.#api.stop()
  }

  /** Stops and leaves the folder to the next. */
  async stopKeeping(): Promise<void> {
    await this.stopServer()
    await this.#agent.destroy()
  }

  /** Stops and removes the folder, whosever it was. */
  async stopRemoving(): Promise<void> {
    await this.stopKeeping()
    rmSync(this.dataDir, { recursive: true, force: true })
  }
}

let ca: Promise<Ca> | undefined

export async function sharedCa(): Promise<Ca> {
  ca ??= createCa({ commonName: 'embedded-test', validDays: 1 })
  return await ca
}

export async function serverTls(authority: Ca, dnsNames = ['localhost']): Promise<EmbeddedOptions['tls']> {
  const { certPem, keyPem } = await authority.issueServer({
    dnsNames,
    ipAddresses: ['127.0.0.1'],
    validDays: 1,
  })
  return { cert: certPem, key: keyPem, ca: authority.certPem }
}

function expectStatus({ status, body }: Answer, wanted: number): Body {
  if (status !== wanted)
    throw new Error(`${status} instead of ${wanted}: ${JSON.stringify(body).slice(0, 500)}`)
  return body
}

function parse(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    return { text }
  }
}

/** Takes so many events of a watch and lets it go. */
export async function take(events: AsyncGenerator<Body>, count: number): Promise<Body[]> {
  const taken: Body[] = []
  for await (const event of events) {
    taken.push(event)
    if (taken.length >= count) break
  }
  return taken
}
