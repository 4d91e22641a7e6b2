import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { createCa } from '@upgrade-hub/pki'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Credential } from './docker-config.ts'
import {
  AGENT,
  FILE,
  HurriedClock,
  type Intercept,
  PullBench,
  type ServerTls,
  startTestProxy,
} from './testing/index.ts'

const PASSWORD: Credential = { kind: 'password', username: 'me', password: 's3cret' }
const IDENTITY: Credential = { kind: 'identity', identityToken: 's3cret-identity' }
const BASIC = `Basic ${Buffer.from('me:s3cret').toString('base64')}`

let bench: PullBench
let tls: ServerTls
let ca: string

beforeAll(async () => {
  const authority = await createCa({ commonName: 'test', validDays: 1 })
  const server = await authority.issueServer({ dnsNames: [], ipAddresses: ['127.0.0.1'], validDays: 1 })
  ca = authority.certPem
  tls = { cert: server.certPem, key: server.keyPem }
})

beforeEach(async () => {
  bench = await PullBench.create()
  await bench.publish([[AGENT]])
})

afterEach(() => bench.remove())

type Pull = Parameters<PullBench['pull']>[0]

/** Pulls with a login for the first registry, or for the host that is said. */
function pull(credential?: Credential, host = bench.registries[0]?.host ?? '', more: Pull = {}) {
  const credentials = new Map(credential ? [[host, credential]] : [])
  return bench.pull({ clock: new HurriedClock(), ...more, registry: { ca, credentials, ...more.registry } })
}

function refuse(response: ServerResponse, challenge: string): true {
  response.writeHead(401, { 'www-authenticate': challenge }).end('{}')
  return true
}

const wantsPassword: Intercept = ({ headers }, response) =>
  headers.authorization !== BASIC && refuse(response, 'Basic realm="Registry"')

interface TokenServer {
  /** What the token server was asked: the query or the form, and the header Authorization. */
  readonly asked: { method: string; fields: Record<string, string>; authorization?: string }[]
  readonly intercept: Intercept
}

/** A registry that hands out a new token for each request of one, and takes each token `uses` times. */
function withTokens(realm = () => `https://${bench.registries[0]?.host}/token`, uses = 100): TokenServer {
  const asked: TokenServer['asked'] = []
  let left = 0
  const give = async (request: IncomingMessage, response: ServerResponse) => {
    const { searchParams } = new URL(request.url ?? '', 'https://x')
    const form = new URLSearchParams(await text(request))
    const { authorization } = request.headers
    const fields = Object.fromEntries([...searchParams, ...form])
    asked.push({ method: request.method ?? '', fields, ...(authorization ? { authorization } : {}) })
    left = uses
    response.end(JSON.stringify({ token: `t${asked.length}`, expires_in: 60 }))
  }
  const intercept: Intercept = (request, response) => {
    if (request.url?.startsWith('/token')) return (void give(request, response), true)
    if (request.headers.authorization === `Bearer t${asked.length}` && left-- > 0) return false
    const fields = 'service="r.example",scope="repository:team/edge:pull"'
    return refuse(response, `Bearer realm="${realm()}",${fields}`)
  }
  return { asked, intercept }
}

/** R28 */
describe('a registry that wants a password', () => {
  it('gets the one of its host', async () => {
    await bench.serve(wantsPassword, tls)
    expect((await pull(PASSWORD)).files[FILE]?.size).toBe(9)
  })

  it('refuses a wrong one once, and is not asked again', async () => {
    const { requests } = await bench.serve(wantsPassword, tls)
    const wrong = pull({ ...PASSWORD, password: 'wrong' }, undefined, { limits: { retries: 5 } })
    await expect(wrong).rejects.toMatchObject({ code: 'OCI_CREDENTIALS_REFUSED', edgeCode: 'PullFailed' })
    expect(requests).toHaveLength(2)
  })

  it('never gets that of another host, and the error says what is missing', async () => {
    const seen: (string | undefined)[] = []
    await bench.serve((request, response) => {
      seen.push(request.headers.authorization)
      return wantsPassword(request, response)
    }, tls)
    await expect(pull(PASSWORD, 'other.example')).rejects.toThrow(/registry.credentialsFile has none for it/)
    expect(seen).toEqual([undefined])
  })
})

/** R28 */
describe('a registry that wants a token', () => {
  const SCOPE = { service: 'r.example', scope: 'repository:team/edge:pull' }

  it('sends to its token server, which gives one to anybody', async () => {
    const tokens = withTokens()
    await bench.serve(tokens.intercept, tls)
    expect((await pull()).files[FILE]?.size).toBe(9)
    expect(tokens.asked).toEqual([{ method: 'GET', fields: SCOPE }])
  })

  it('has the token server see the password', async () => {
    const tokens = withTokens()
    await bench.serve(tokens.intercept, tls)
    await pull(PASSWORD)
    expect(tokens.asked).toEqual([{ method: 'GET', fields: SCOPE, authorization: BASIC }])
  })

  it('has an identity token exchanged for it', async () => {
    const tokens = withTokens()
    await bench.serve(tokens.intercept, tls)
    await pull(IDENTITY)
    expect(tokens.asked).toMatchObject([
      { method: 'POST', fields: { ...SCOPE, grant_type: 'refresh_token', refresh_token: 's3cret-identity' } },
    ])
  })

  it('takes a new one when it ends in the middle of the pull', async () => {
    const tokens = withTokens(undefined, 2)
    await bench.serve(tokens.intercept, tls)
    expect((await pull(PASSWORD)).files[FILE]?.size).toBe(9)
    expect(tokens.asked).toHaveLength(2)
  })

  it('and takes none is left: one new token a request', async () => {
    const tokens = withTokens(undefined, 0)
    await bench.serve(tokens.intercept, tls)
    const refused = pull(PASSWORD, undefined, { limits: { retries: 5 } })
    await expect(refused).rejects.toMatchObject({ code: 'OCI_CREDENTIALS_REFUSED' })
    expect(tokens.asked).toHaveLength(1)
  })

  it.each<[string, number, Intercept]>([
    ['OCI_CREDENTIALS_REFUSED', 1, (_, response) => (response.writeHead(403).end(), true)],
    ['OCI_CREDENTIALS_REFUSED', 1, (_, response) => (response.end('{"token":"a b"}'), true)],
    ['OCI_CREDENTIALS_REFUSED', 1, (_, response) => (response.end('s3cret'), true)],
    ['OCI_TOO_LONG', 1, (_, response) => (response.end(Buffer.alloc(70_000, 32)), true)],
    ['OCI_REFUSED', 1, (_, response) => (response.writeHead(302, { location: 'https://x/' }).end(), true)],
    ['OCI_UNREACHABLE', 3, (_, response) => (response.writeHead(503).end(), true)],
  ])('ends with %s after %d requests by what its token server does (%#)', async (code, times, misbehave) => {
    const tokens = withTokens()
    const { requests } = await bench.serve((request, response) => {
      const isToken = request.url?.startsWith('/token') === true
      return isToken ? misbehave(request, response) : tokens.intercept(request, response)
    }, tls)
    const failed = pull(PASSWORD, undefined, { limits: { retries: 2 } })
    await expect(failed).rejects.toMatchObject({ code })
    expect(requests.filter((line) => line.includes('/token'))).toHaveLength(times)
  })
})

/** S43 */
describe('a token server', () => {
  it.each([
    ['https://auth.example/token'],
    ['https://127.0.0.1:1/token'],
    ['https://169.254.169.254/token'],
    ['http://auth.example/token'],
    ['https://me:s3cret@auth.example/token'],
    ['file:///etc/passwd'],
    ['nonsense'],
  ])('at %s gets no credentials', async (realm) => {
    await bench.serve(withTokens(() => realm).intercept, tls)
    const refused = pull(PASSWORD)
    await expect(refused).rejects.toMatchObject({ code: 'OCI_REALM_REFUSED', edgeCode: 'PolicyRefused' })
  })

  it('of its own is asked where registry.allow names it', async () => {
    const tokens = withTokens(() => `https://${bench.registries[1]?.host}/token`)
    await bench.serve(tokens.intercept, tls)
    await bench.serve(tokens.intercept, tls)
    expect((await pull(PASSWORD)).files[FILE]?.size).toBe(9)
    const [registry] = bench.registries
    const closed = pull(PASSWORD, undefined, { registry: { ca, allow: [registry?.host ?? ''] } })
    await expect(closed).rejects.toMatchObject({ code: 'OCI_REALM_REFUSED' })
  })
})

/** R27 */
describe('a certificate', () => {
  const issue = async (names: { dnsNames?: string[]; ipAddresses?: string[] }, clock?: HurriedClock) => {
    const authority = await createCa({ commonName: 'other', validDays: 30 }, clock)
    const request = { dnsNames: [], ipAddresses: [], validDays: 1, ...names }
    const { certPem: cert, keyPem: key } = await authority.issueServer(request)
    return { tls: { cert, key }, ca: authority.certPem }
  }

  it('of the private CA is trusted, also by way of a proxy', async () => {
    const { host } = await bench.serve(undefined, tls)
    expect((await pull()).files[FILE]?.size).toBe(9)
    const proxy = await startTestProxy()
    const settings = { ca, proxy: { https: `http://${proxy.host}`, noProxy: '' } }
    expect((await pull(undefined, host, { registry: settings })).files[FILE]?.size).toBe(9)
    expect(new Set(proxy.targets)).toEqual(new Set([host]))
    await proxy.stop()
  })

  it.each<[string, () => Promise<{ tls: ServerTls; ca?: string }>]>([
    [
      'of a CA that nobody has named',
      async () => ({ tls: (await issue({ ipAddresses: ['127.0.0.1'] })).tls }),
    ],
    ['without the address', () => issue({})],
    ['of another name', () => issue({ dnsNames: ['registry.example'] })],
    [
      'that has expired',
      () => issue({ ipAddresses: ['127.0.0.1'] }, new HurriedClock(Date.parse('2020-01-01T00:00:00Z'))),
    ],
  ])('%s is refused for good, with a clear reason', async (_, make) => {
    const made = await make()
    const { requests } = await bench.serve(undefined, made.tls)
    const failed = pull(undefined, undefined, { limits: { retries: 5 }, registry: { ca: made.ca ?? ca } })
    await expect(failed).rejects.toMatchObject({ code: 'OCI_UNTRUSTED', edgeCode: 'PullFailed' })
    await expect(failed).rejects.toThrow(/is not trusted \([A-Z_]+\), see registry.caFile/)
    expect(requests).toEqual([])
  })

  it('is wanted of every host that is not named as plain HTTP', async () => {
    const { host, requests } = await bench.serve()
    const failed = pull(PASSWORD, host, { registry: { plainHttp: [], allow: [host] } })
    await expect(failed).rejects.toMatchObject({ code: 'OCI_UNREACHABLE' })
    expect(requests).toEqual([])
  })
})

/** S44 */
describe('a secret', () => {
  const answers: [string, Intercept][] = [
    ['401', (_, response) => refuse(response, 'Basic')],
    ['403', (_, response) => (response.writeHead(403).end('s3cret'), true)],
    ['404', (_, response) => (response.writeHead(404).end('s3cret'), true)],
    ['500', (_, response) => (response.writeHead(500).end('s3cret'), true)],
    ['nothing', (request) => (request.destroy(), true)],
    ['nonsense', (_, response) => (response.end('s3cret'), true)],
    [
      'a redirect',
      (_, response) => (response.writeHead(302, { location: 'http://me:s3cret@x/' }).end(), true),
    ],
    ['a circle', ({ url }, response) => (response.writeHead(302, { location: `${url}?s3cret` }).end(), true)],
  ]

  it.each(answers)('is in no error when the registry answers %s', async (_, misbehave) => {
    await bench.serve((request, response) => {
      const { authorization } = request.headers
      return authorization === BASIC ? misbehave(request, response) : wantsPassword(request, response)
    }, tls)
    const error: unknown = await pull(PASSWORD).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Error)
    const told = inspect(error, { depth: 20, showHidden: true })
    expect(told).not.toContain('s3cret')
    expect(told).not.toContain(BASIC.slice(6))
  })
})
