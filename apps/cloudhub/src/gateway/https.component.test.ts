import { X509Certificate } from 'node:crypto'
import { connect, type TLSSocket } from 'node:tls'
import { noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { SECRETS } from '@upgrade-hub/kube'
import { type Ca, createCa, createNodeCsr, identityOf } from '@upgrade-hub/pki'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { HubCa } from '../certificates/hub-ca.ts'
import { ServerCertificate } from '../certificates/server-certificate.ts'
import { listen } from '../http/listen.ts'
import type { HttpsApp } from '../http/server.ts'
import { IDENTITIES } from '../kube-api.ts'
import { FakeKube, failure } from '../testing/fake-kube.ts'
import { callHttps, type HttpsCall } from '../testing/https-call.ts'
import { createEdgeApi } from './https.ts'
import { Identities } from './identity/identities.ts'
import type { ResultOutcome } from './routes/results.ts'
import { createToken } from './tokens.ts'

let hubCa: HubCa
let otherCa: Ca
let certificate: ServerCertificate
beforeAll(async () => {
  hubCa = { ca: await createCa({ commonName: 'hub', validDays: 30 }), tokenKey: Buffer.alloc(32, 7) }
  otherCa = await createCa({ commonName: 'other', validDays: 30 })
  certificate = await ServerCertificate.issue({
    ca: hubCa.ca,
    names: { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] },
    validDays: 10,
    clock: systemClock,
    log: silentLogger,
  })
})

let kube: FakeKube
let app: HttpsApp
let clock: FakeClock
let port: number
let stored: { nodeName: string; task: string; attempt: number; outcome: string }[]
let outcome: () => Promise<ResultOutcome>

beforeEach(async () => {
  kube = new FakeKube()
  kube.now = Date.now()
  clock = new FakeClock()
  stored = []
  outcome = () => Promise.resolve({ kind: 'stored' })
  app = createEdgeApi({
    client: kube,
    hubCa,
    certificate,
    identities: new Identities({
      client: kube,
      cache: { get: (name) => kube.peek(IDENTITIES, name) },
      clock,
    }),
    store: (nodeName, task, report) => {
      stored.push({ nodeName, task, attempt: report.attempt, outcome: report.Outcome })
      return outcome()
    },
    nodeDays: 1,
    clock,
    log: silentLogger,
    metrics: noMetrics,
  })
  port = await listen(app, { host: '127.0.0.1', port: 0 })
})
afterEach(() => app.close())

const call = (options: Omit<HttpsCall, 'port' | 'ca'>) =>
  callHttps({ port, ca: hubCa.ca.certPem, ...options })

const codeOf = (answer: { text: string }) => (JSON.parse(answer.text) as { code: string }).code

interface Edge {
  readonly cert: string
  readonly key: string
  readonly fingerprint: string
}

/** A node certificate, enrolled unless said otherwise. */
async function edge(nodeName: string, { ca = hubCa.ca, enrolled = true } = {}): Promise<Edge> {
  const { csrDer, keyPem } = await createNodeCsr({ nodeName })
  const { certPem, fingerprint } = await ca.signNodeCsr(csrDer, { nodeName, validSeconds: 3600 })
  if (enrolled) {
    kube.put(IDENTITIES, {
      apiVersion: 'upgradehub.io/v1alpha1',
      kind: 'EdgeIdentity',
      metadata: { name: nodeName },
      spec: { fingerprint, machineID: 'm1' },
    })
  }
  return { cert: certPem, key: keyPem, fingerprint }
}

const result = (over: object = {}) =>
  JSON.stringify({
    UpgradeID: 'job',
    HistoryID: 'job-abc.1',
    NodeName: 'n1',
    FromVersion: 'v1.0.0',
    ToVersion: 'v1.1.0',
    Status: 'upgrade_success',
    Reason: '',
    ...over,
  })

async function post(body: string, credentials: { cert?: string; key?: string } = {}) {
  return call({
    path: '/nodeupgrade',
    method: 'POST',
    body,
    ...credentials,
    headers: { 'content-type': 'application/json' },
  })
}

describe('routes (S36)', () => {
  it('gives the CA in DER to anybody', async () => {
    const answer = await call({ path: '/ca.crt' })
    expect(answer.status).toBe(200)
    expect(answer.body.equals(hubCa.ca.certDer)).toBe(true)
  })

  it('answers health and readiness', async () => {
    expect((await call({ path: '/healthz' })).text).toBe('ok')
    expect((await call({ path: '/readyz' })).text).toBe('ok')
  })

  it.each([
    ['GET', '/'],
    ['GET', '/nodeupgrade'],
    ['POST', '//nodeupgrade'],
    ['POST', '/nodeupgrade/'],
    ['POST', '/NodeUpgrade'],
    ['POST', '/x/%2e%2e/nodeupgrade'],
    ['POST', '/nodeupgrade.'],
    ['PUT', '/edge.crt'],
    ['HEAD', '/ca.crt'],
    ['GET', '/node/n1'],
    ['POST', '/task/upgrade/name/x/node/n1/status'],
    ['GET', '/%ff'],
  ])('has nothing at %s %s', async (method, path) => {
    const answer = await call({ method, path, ...(await edge('n1')) })
    expect(answer.status).toBe(404)
    expect(method === 'HEAD' ? 'NOT_FOUND' : codeOf(answer)).toBe('NOT_FOUND')
  })

  it('does not know TRACE', async () => {
    expect((await call({ method: 'TRACE', path: '/ca.crt' })).status).toBeGreaterThanOrEqual(400)
  })
})

describe('POST /nodeupgrade', () => {
  it('answers ok once the result is stored, and hands it on under the name of the certificate', async () => {
    const answer = await post(result(), await edge('n1'))
    expect([answer.status, answer.text]).toEqual([200, 'ok'])
    expect(stored).toEqual([{ nodeName: 'n1', task: 'job-abc', attempt: 1, outcome: 'Succeeded' }])
  })

  it.each([
    ['upgrade_success', 'Succeeded'],
    ['upgrade_failed_rollback_success', 'RolledBack'],
    ['upgrade_failed_rollback_failed', 'RollbackFailed'],
  ])('keeps the outcome of %s apart from the other two (S26)', async (Status, expected) => {
    await post(result({ Status }), await edge('n1'))
    expect(stored.map((entry) => entry.outcome)).toEqual([expected])
  })

  it.each([
    ['UNKNOWN_TASK', 404],
    ['NOT_YOURS', 403],
    ['NOT_DISPATCHED', 403],
    ['MISMATCH', 400],
    ['HISTORY_FULL', 413],
  ] as const)('answers %s with %i', async (code, status) => {
    outcome = () => Promise.resolve({ kind: 'refused', code, message: 'no' })
    const answer = await post(result(), await edge('n1'))
    expect([answer.status, codeOf(answer)]).toEqual([status, code])
  })

  it('answers 503 with Retry-After while the API server is away', async () => {
    outcome = () => Promise.reject(failure('KUBE_UNREACHABLE', 0))
    const answer = await post(result(), await edge('n1'))
    expect(answer.status).toBe(503)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  })

  it('tells nothing of a fault that nobody foresaw', async () => {
    outcome = () => Promise.reject(new Error('secret detail at /srv/hub.ts:1'))
    const answer = await post(result(), await edge('n1'))
    expect([answer.status, codeOf(answer)]).toEqual([500, 'INTERNAL'])
    expect(answer.text).not.toContain('secret')
  })

  it.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['a missing field', '{"NodeName":"n1"}'],
    ['a wrong type', result({ Reason: 7 })],
    ['an outcome that does not exist', result({ Outcome: 'Exploded' })],
    ['an end that nobody knows', result({ Status: 'done' })],
    ['an empty end', result({ Status: '' })],
    ['two ends that contradict each other', result({ Outcome: 'RolledBack' })],
    ['a HistoryID of no task', result({ HistoryID: 'job-abc' })],
    ['a HistoryID that leaves its folder', result({ HistoryID: '../../x.1' })],
    ['a very deep body', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('refuses %s as malformed', async (_, body) => {
    const answer = await post(body, await edge('n1'))
    expect([answer.status, codeOf(answer)]).toEqual([400, 'MALFORMED'])
    expect(stored).toEqual([])
  })

  it('limits how often one node posts, without touching another', async () => {
    const [one, two] = [await edge('n1'), await edge('n2')]
    const statuses: number[] = []
    for (let i = 0; i < 25; i++) statuses.push((await post(result(), one)).status)
    expect(statuses.filter((status) => status === 503).length).toBe(5)
    expect((await post(result({ NodeName: 'n2' }), two)).status).toBe(200)
    await clock.advance(1000)
    expect((await post(result(), one)).status).toBe(200)
  })
})

describe('who may post (S25, S26)', () => {
  it('refuses a body that speaks for another node', async () => {
    const answer = await post(result({ NodeName: 'n2' }), await edge('n1'))
    expect([answer.status, codeOf(answer)]).toEqual([403, 'NOT_YOURS'])
  })

  it('refuses who has no certificate, whatever the headers say', async () => {
    const answer = await call({
      path: '/nodeupgrade',
      body: result(),
      headers: {
        'x-ssl-client-s-dn': 'CN=system:node:n1',
        'x-remote-user': 'system:node:n1',
        nodename: 'n1',
      },
    })
    expect([answer.status, codeOf(answer)]).toEqual([401, 'NO_CERTIFICATE'])
  })

  it('refuses a certificate of another CA with the right name', async () => {
    expect((await post(result(), await edge('n1', { ca: otherCa }))).status).toBe(401)
  })

  it('refuses a server certificate of our own CA', async () => {
    const { cert, key } = certificate.current
    expect((await post(result(), { cert, key })).status).toBe(401)
  })

  it.each([
    ['no such group', { commonName: 'system:node:n1' }],
    ['an empty name', { commonName: 'system:node:', organization: 'system:nodes' }],
    ['upper case', { commonName: 'system:node:N1', organization: 'system:nodes' }],
    ['a look-alike', { commonName: 'system:node:n１', organization: 'system:nodes' }],
    ['a slash', { commonName: 'system:node:n1/x', organization: 'system:nodes' }],
  ])('refuses a certificate with %s', async (_, subject) => {
    const { certPem, keyPem } = await hubCa.ca.issueClient({ ...subject, validDays: 1 })
    expect((await post(result(), { cert: certPem, key: keyPem })).status).toBe(401)
  })

  it('refuses an expired certificate', async () => {
    const { csrDer, keyPem } = await createNodeCsr({ nodeName: 'n1' })
    const { certPem } = await hubCa.ca.signNodeCsr(csrDer, { nodeName: 'n1', validSeconds: -60 })
    expect((await post(result(), { cert: certPem, key: keyPem })).status).toBe(401)
  })

  it('refuses a certificate whose identity was deleted', async () => {
    const credentials = await edge('n1')
    await kube.delete(IDENTITIES, 'n1')
    const answer = await post(result(), credentials)
    expect([answer.status, codeOf(answer)]).toEqual([401, 'REVOKED'])
  })
})

describe('bodies (S01)', () => {
  it('answers 413 one byte above 1 MiB and reads no further', async () => {
    const answer = await post('x'.repeat(1024 * 1024 + 1), await edge('n1'))
    expect([answer.status, codeOf(answer)]).toEqual([413, 'TOO_LARGE'])
  })

  it('answers 413 to a certificate request above 16 KiB', async () => {
    const body = Buffer.alloc(16 * 1024 + 1)
    expect((await call({ path: '/edge.crt', body, headers: { nodename: 'n1' } })).status).toBe(413)
  })

  it('cuts an endless body off without keeping it', async () => {
    const socket = await raw(await edge('n1'))
    socket.write(
      'POST /nodeupgrade HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
    )
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const before = process.memoryUsage().rss
    const answer = read(socket)
    for (let sent = 0; sent < 64 && !socket.destroyed && socket.writable; sent++) {
      if (!socket.write(chunk))
        await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), answer])
    }
    expect(await answer).toContain('413')
    expect(process.memoryUsage().rss - before).toBeLessThan(16 * 1024 * 1024)
  })

  it('refuses a declared length of a terabyte at once', async () => {
    const socket = await raw(await edge('n1'))
    socket.write(
      'POST /nodeupgrade HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000000000000\r\n\r\n',
    )
    expect(await read(socket)).toContain('413')
  })
})

describe('what is not HTTP (S35)', () => {
  it.each([
    [
      'two lengths',
      'POST /nodeupgrade HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
    ],
    [
      'length and chunks',
      'POST /nodeupgrade HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a space before the colon', 'GET /ca.crt HTTP/1.1\r\nhost : x\r\n\r\n'],
    ['a folded header', 'GET /ca.crt HTTP/1.1\r\nhost: x\r\na: b\r\n c\r\n\r\n'],
    ['an empty header name', 'GET /ca.crt HTTP/1.1\r\nhost: x\r\n: b\r\n\r\n'],
    [
      'chunked twice over',
      'POST /nodeupgrade HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n',
    ],
    ['noise', '\u0016\u0003\u0001 hello\r\n\r\n'],
  ])('answers 400 and closes on %s', async (_, text) => {
    const socket = await raw()
    socket.write(text)
    expect(await read(socket)).toMatch(/^HTTP\/1\.1 400 .*MALFORMED/s)
  })

  it('answers 431 to headers above 16 KiB', async () => {
    const socket = await raw()
    socket.write(`GET /ca.crt HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(await read(socket)).toContain('431')
  })
})

describe('/edge.crt', () => {
  async function join(nodeName: string, token: string, method: 'GET' | 'POST' = 'POST') {
    const { csrDer, keyPem } = await createNodeCsr({ nodeName })
    const headers = { nodename: nodeName, authorization: `Bearer ${token.split('.').slice(1).join('.')}` }
    return { ...(await call({ path: '/edge.crt', method, body: csrDer, headers })), keyPem }
  }

  const day = 86_400_000
  const token = async (nodeName: string, ttlMs = day) =>
    (await createToken(kube, hubCa, { nodeName, ttlMs })).token

  it.each(['GET', 'POST'] as const)(
    'gives a certificate for a token (%s), which then posts',
    async (method) => {
      const answer = await join('n1', await token('n1'), method)
      expect(answer.status).toBe(200)
      const cert = new X509Certificate(answer.body)
      expect(identityOf(cert)?.nodeName).toBe('n1')
      expect(kube.peek(IDENTITIES, 'n1')?.spec).toMatchObject({
        fingerprint: identityOf(cert)?.fingerprint,
        machineID: '',
      })
      expect((await post(result(), { cert: cert.toString(), key: answer.keyPem })).status).toBe(200)
    },
  )

  it('takes nothing of the subject of the request', async () => {
    const { csrDer } = await createNodeCsr({ nodeName: 'admin' })
    const jwt = (await token('n1')).split('.').slice(1).join('.')
    const answer = await call({
      path: '/edge.crt',
      body: csrDer,
      headers: { nodename: 'n1', authorization: `Bearer ${jwt}` },
    })
    expect(identityOf(new X509Certificate(answer.body))?.nodeName).toBe('n1')
  })

  it('refuses a token for another name, an expired one, a revoked one and none, in the same words (S28)', async () => {
    const revoked = await createToken(kube, hubCa, { nodeName: 'n1', ttlMs: day })
    await kube.delete(SECRETS, revoked.secret.split('/')[1] ?? '')
    const expired = await token('n1', 1000)
    kube.now += 2000
    const answers = [
      await join('n2', await token('n1')),
      await join('n1', expired),
      await join('n1', revoked.token),
      await join('n1', 'a.b.c.d'),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401, 401])
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1)
    expect(kube.all(IDENTITIES)).toEqual([])
  })

  it('answers a guesser ten times and then slowly, without holding up an honest edge beside it (S28)', async () => {
    const good = await token('n1')
    const statuses: number[] = []
    for (let i = 0; i < 15; i++) statuses.push((await join('n1', `a.b.c.${i}`)).status)
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(5).fill(429)])
    expect((await join('n1', good)).status).toBe(200)
    await clock.advance(6_000)
    expect((await join('n1', 'a.b.c.d')).status).toBe(401)
  })

  it('takes only so many requests of one address, good ones too', async () => {
    const statuses: number[] = []
    const headers = { nodename: 'N_1' }
    for (let i = 0; i < 55; i++) statuses.push((await app.inject({ url: '/edge.crt', headers })).statusCode)
    expect(statuses).toEqual([...Array(50).fill(400), ...Array(5).fill(429)])
  })

  it('does not give a live name to another key', async () => {
    await edge('n1')
    const answer = await join('n1', await token('n1'))
    expect([answer.status, codeOf(answer)]).toEqual([403, 'ALREADY_ENROLLED'])
  })

  it('lets an edge whose answer was lost come again with the same token until it has connected', async () => {
    const same = await token('n1')
    expect((await join('n1', same)).status).toBe(200)
    expect((await join('n1', same)).status).toBe(200)
    await kube.patch(IDENTITIES, 'n1', { spec: { machineID: 'm1' } })
    expect((await join('n1', same)).status).toBe(403)
  })

  it('renews for the certificate itself, and both keys work until the new one is used (S29)', async () => {
    const old = await edge('n1')
    const { csrDer, keyPem } = await createNodeCsr({ nodeName: 'n1' })
    const renewed = await call({ path: '/edge.crt', body: csrDer, headers: { nodename: 'n1' }, ...old })
    expect(renewed.status).toBe(200)
    const cert = new X509Certificate(renewed.body).toString()
    expect((await post(result(), { cert, key: keyPem })).status).toBe(200)
    expect((await post(result(), old)).status).toBe(200)
  })

  it('does not renew for another name', async () => {
    const { csrDer } = await createNodeCsr({ nodeName: 'n2' })
    const answer = await call({
      path: '/edge.crt',
      body: csrDer,
      headers: { nodename: 'n2' },
      ...(await edge('n1')),
    })
    expect([answer.status, codeOf(answer)]).toEqual([403, 'IDENTITY_CONFLICT'])
  })

  it.each([
    ['no NodeName', {}],
    ['a NodeName that is none', { nodename: 'N_1' }],
  ])('refuses %s', async (_, headers) => {
    const { csrDer } = await createNodeCsr({ nodeName: 'n1' })
    expect(
      (await call({ path: '/edge.crt', body: csrDer, headers: headers as Record<string, string> })).status,
    ).toBe(400)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['noise', Buffer.alloc(100, 7)],
  ])('refuses %s as a request', async (_, body) => {
    const jwt = (await token('n1')).split('.').slice(1).join('.')
    const answer = await call({
      path: '/edge.crt',
      method: 'POST',
      body,
      headers: { nodename: 'n1', authorization: `Bearer ${jwt}` },
    })
    expect(answer.status).toBe(400)
  })
})

describe('rotation', () => {
  it('serves a renewed certificate on the next connection and keeps asking for client certificates', async () => {
    const before = (await raw()).getPeerX509Certificate()?.serialNumber
    await certificate.renew()
    const socket = await raw()
    expect(socket.getPeerX509Certificate()?.serialNumber).not.toBe(before)
    socket.destroy()
    expect((await post(result(), await edge('n1'))).status).toBe(200)
    expect((await post(result())).status).toBe(401)
  })
})

/** A verified TLS connection to write anything on. */
function raw(credentials: { cert?: string; key?: string } = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      { port, host: '127.0.0.1', servername: 'localhost', ca: hubCa.ca.certPem, ...credentials },
      () => resolve(socket),
    )
    socket.once('error', reject)
  })
}

/** Everything until the server closes. */
function read(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}
