import { connect } from 'node:net'
import { noMetrics } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { CLOSE, encodeFrame, LIMITS } from '@upgrade-hub/protocol'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  HELLO,
  makePki,
  RawClient,
  startHub,
  type TestHub,
  type TestPki,
  until,
  WELCOME,
} from './testing/bench.ts'

let pki: TestPki
beforeAll(async () => {
  pki = await makePki()
})

let clock: FakeClock
let hub: TestHub
let refused: string[]
const clients: RawClient[] = []
beforeEach(async () => {
  clock = new FakeClock()
  refused = []
  const counter = (name: string) => ({
    inc: (labels?: Readonly<Record<string, string>>) => {
      if (name.includes('refused')) refused.push(labels?.['code'] ?? '')
    },
  })
  hub = await startHub(pki, { clock, metrics: { ...noMetrics, counter } })
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy()
  const stopped = hub.stop()
  await clock.advance(6_000)
  await stopped
})

async function rawClient(nodeName: string, tls?: Awaited<ReturnType<TestPki['edge']>>): Promise<RawClient> {
  const client = new RawClient(hub.port, tls ?? (await pki.edge(nodeName)))
  clients.push(client)
  return client
}

async function openRaw(nodeName: string): Promise<RawClient> {
  const client = await rawClient(nodeName)
  client.upgrade(nodeName)
  client.hello()
  await until(() => client.frames.length === 1)
  return client
}

async function closeOf(client: RawClient): Promise<{ code: number; reason: string }> {
  await until(() => client.close !== undefined)
  return client.close ?? { code: 0, reason: '' }
}

const frame = (operation: string, content: unknown, resource?: string) =>
  encodeFrame({ operation, content, ...(resource === undefined ? {} : { resource }) }, 'edge', 0)
const answer = { Task: 't', TaskUID: 'u', Attempt: 1, IntentSeq: 1, Value: 'done', Code: '', Reason: '' }

describe('the handshake', () => {
  it('S31: refuses every Origin', async () => {
    const client = await rawClient('edge-1')
    client.upgrade('edge-1', { headers: ['Origin: https://hub'] })
    await client.closed
    expect(client.status).toBe(403)
    expect(client.received.toString()).toContain('ORIGIN_REFUSED')
  })

  it.each([
    ['the path', { path: '/project/edge-2/events' }],
    ['the header', { nodeId: 'edge-2' }],
    ['a second header', { headers: ['node_id: edge-2'] }],
    ['path and header', { path: '/project/edge-2/events', nodeId: 'edge-2' }],
  ])('S25: refuses a certificate whose %s names another node, and says so', async (_, more) => {
    const client = await rawClient('edge-1')
    client.upgrade('edge-1', more)
    await client.closed
    expect(client.status).toBe(403)
    expect(hub.conflicts).toEqual(['edge-1 IdentityConflict'])
  })

  it.each([
    '/',
    '//edge-1/events',
    '/p/edge-1/events/',
    '/p/edge-1/events?a=b',
    '/p/EDGE-1/events',
    '/p/%65dge-1/events',
  ])('S36: knows no path %s', async (path) => {
    const client = await rawClient('edge-1')
    client.upgrade('edge-1', { path })
    await client.closed
    expect(client.status).toBe(404)
  })

  it('is not reached without a certificate of this CA', async () => {
    const stranger = await (await makePki()).edge('edge-1')
    for (const tls of [{ ca: pki.ca.certPem }, { ...stranger, ca: pki.ca.certPem }]) {
      const client = await rawClient('edge-1', { cert: '', key: '', ...tls })
      client.upgrade('edge-1')
      await client.closed
      expect(client.status).toBe(0)
    }
  })

  it('is not reached with a certificate for servers, and ends at one that speaks for no node', async () => {
    const server = await pki.ca.issueServer({ dnsNames: ['a'], ipAddresses: [], validDays: 1 })
    const wrong = await rawClient('a', { ca: pki.ca.certPem, cert: server.certPem, key: server.keyPem })
    wrong.upgrade('a')
    await wrong.closed
    expect(wrong.status).toBe(0)
    const user = await pki.ca.issueClient({ commonName: 'alice', validDays: 1 })
    const client = await rawClient('a', { ca: pki.ca.certPem, cert: user.certPem, key: user.keyPem })
    client.upgrade('a')
    await client.closed
    expect(client.status).toBe(403)
  })

  it('answers a plain request with 426 and malformed ones with 400', async () => {
    for (const [text, status] of [
      ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 426],
      ['NONSENSE\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ] as const) {
      const client = await rawClient('edge-1')
      client.socket.write(text)
      await client.closed
      expect(client.status).toBe(status)
    }
  })

  it('S33: has 16 KiB for its headers', async () => {
    const client = await rawClient('edge-1')
    client.upgrade('edge-1', { headers: Array.from({ length: 2000 }, (_, i) => `x-${i}: yyyyyyyy`) })
    await client.closed
    expect(client.status).toBe(431)
  })

  it('S33: is refused for a while when one node comes too often, and only for that node', async () => {
    const tls = await pki.edge('edge-1')
    for (let i = 0; i < 10; i++) {
      const client = await rawClient('edge-1', tls)
      client.upgrade('edge-1')
      await until(() => client.status === 101)
    }
    const eleventh = await rawClient('edge-1', tls)
    eleventh.upgrade('edge-1')
    await eleventh.closed
    expect(eleventh.status).toBe(429)
    expect(eleventh.received.toString()).toContain('Retry-After: 5')
    await openRaw('edge-2')
    await clock.advance(1_000)
    const later = await rawClient('edge-1', tls)
    later.upgrade('edge-1')
    await until(() => later.status === 101)
  })

  it('is refused with 503 when it cannot be judged', async () => {
    await hub.stop()
    hub = await startHub(pki, { clock, authorize: () => Promise.reject(new Error('no API server')) })
    const client = await rawClient('edge-1')
    client.upgrade('edge-1')
    await client.closed
    expect(client.status).toBe(503)
    expect(client.received.toString()).not.toContain('API server')
  })
})

describe('slow peers, S32', () => {
  it('end when they say no hello in time', async () => {
    const client = await rawClient('edge-1')
    client.upgrade('edge-1')
    await until(() => client.status === 101)
    await clock.advance(LIMITS.handshakeTimeoutMs + 1_000)
    await client.closed
    expect(hub.sessions).toHaveLength(0)
  })

  it('end when the hub cannot answer their hello in time', async () => {
    await hub.stop()
    const welcome = vi.fn<() => Promise<never>>(() => new Promise(() => undefined))
    hub = await startHub(pki, { clock, welcome })
    const client = await rawClient('edge-1')
    client.upgrade('edge-1')
    client.hello()
    await until(() => welcome.mock.calls.length === 1)
    await clock.advance(LIMITS.handshakeTimeoutMs + 1_000)
    await client.closed
    expect(hub.sessions).toHaveLength(0)
  })

  it('end when they hang in TLS or HTTP, by timers of the server', async () => {
    await hub.stop()
    const limits = {
      handshakeTimeout: 200,
      headersTimeout: 200,
      requestTimeout: 300,
      connectionsCheckingInterval: 50,
    }
    hub = await startHub(pki, { clock, tls: limits })
    const silent = connect(hub.port, '127.0.0.1')
    silent.resume()
    const mute = await rawClient('edge-1')
    const dribbling = await rawClient('edge-2')
    dribbling.socket.write('GET /p/edge-2/events HTTP/1.1\r\nHo')
    await Promise.all([new Promise((resolve) => silent.on('close', resolve)), dribbling.closed])
    expect(dribbling.status).toBe(408)
    mute.socket.destroy()
  })

  it('that never read are closed as too slow, and what waits for them is bounded', async () => {
    const client = await openRaw('edge-1')
    client.socket.pause()
    const session = hub.sessions[0]
    const content = { retryAfterSeconds: 1, pad: 'x'.repeat(200_000) }
    let sent = 0
    while (session?.send('goAway', '', content)) sent += 1
    expect(sent).toBeLessThan(100)
    expect(await session?.closed).toEqual({ code: CLOSE.tooSlow, reason: 'TooSlow' })
    expect(session?.send('goAway', '', content)).toBe(false)
  })
})

describe('the first frame', () => {
  it.each([
    ['another operation', () => frame('keepalive', {})],
    ['an unknown operation', () => frame('dance', {})],
    ['a hello of another protocol', () => frame('hello', { ...HELLO, protocol: 2 })],
    ['no JSON', () => 'ping'],
    ['KubeEdge text', () => '{"header":{},"route":{},"content":"ping"}'],
  ])('closes 4001 when it is %s', async (_, text) => {
    const client = await rawClient('edge-1')
    client.upgrade('edge-1')
    client.text(text())
    expect(await closeOf(client)).toEqual({ code: CLOSE.unsupportedPeer, reason: 'UNSUPPORTED_PEER' })
    expect(refused).toEqual(['UNSUPPORTED_PEER'])
    expect(hub.sessions).toHaveLength(0)
  })

  it('closes 4001 when it is binary, and so does a second hello', async () => {
    const binary = await rawClient('edge-1')
    binary.upgrade('edge-1')
    binary.frame(0x82, Buffer.from(frame('hello', HELLO)))
    expect(await closeOf(binary)).toMatchObject({ code: CLOSE.unsupportedPeer })
    const twice = await openRaw('edge-2')
    twice.hello()
    expect(await closeOf(twice)).toMatchObject({ code: CLOSE.unsupportedPeer })
  })

  it('may be followed at once: what comes with it waits for the welcome and is not lost', async () => {
    await hub.stop()
    const seen: string[] = []
    const open = Promise.withResolvers<typeof WELCOME>()
    hub = await startHub(pki, {
      clock,
      welcome: () => open.promise,
      onSession: (session) => session.onFrame(({ operation }) => seen.push(operation)),
    })
    const client = await rawClient('edge-1')
    client.upgrade('edge-1')
    client.socket.cork()
    client.hello()
    client.text(frame('answer', answer))
    client.socket.uncork()
    await until(() => client.status === 101)
    open.resolve(WELCOME)
    await until(() => seen.length === 1)
    expect(client.frames).toHaveLength(1)
  })
})

describe('frames of an open session', () => {
  it('S25: that speak for another node close it and are seen by nobody', async () => {
    const other = [
      frame('answer', answer, 'upgrade/job/node/edge-2'),
      frame('answer', answer, 'upgrade/node/node/edge-2'),
      frame('result', {
        UpgradeID: 'job',
        HistoryID: 'task.1',
        NodeName: 'edge-2',
        FromVersion: 'v1.0.0',
        ToVersion: 'v1.1.0',
        Status: '',
        Reason: '',
      }),
    ]
    for (const [i, text] of other.entries()) {
      const client = await openRaw('edge-1')
      const onFrame = vi.fn<() => void>()
      hub.sessions[i]?.onFrame(onFrame)
      client.text(text)
      expect(await closeOf(client)).toEqual({ code: CLOSE.policy, reason: 'IdentityConflict' })
      expect(onFrame).not.toHaveBeenCalled()
    }
    expect(hub.conflicts).toEqual([
      'edge-1 IdentityConflict',
      'edge-1 IdentityConflict',
      'edge-1 IdentityConflict',
    ])
  })

  it.each([
    ['no JSON', () => Buffer.from('{'), 'PROTOCOL_NOT_JSON'],
    ['no envelope', () => Buffer.from('[]'), 'PROTOCOL_INVALID'],
    ['nested 5,000 deep', () => Buffer.from(`${'['.repeat(5000)}${']'.repeat(5000)}`), 'PROTOCOL_INVALID'],
  ])('S03: close it with a code when they are %s', async (_, payload, code) => {
    const client = await openRaw('edge-1')
    client.frame(0x81, payload())
    expect(await closeOf(client)).toEqual({ code: CLOSE.policy, reason: code })
    expect(refused).toEqual([code])
  })

  it('S03: are answered with a code when only their content is wrong, and close it when that goes on', async () => {
    const client = await openRaw('edge-1')
    const onFrame = vi.fn<() => void>()
    hub.sessions[0]?.onFrame(onFrame)
    for (let i = 0; i < 11; i++) client.text(frame('answer', { ...answer, Attempt: 'one' }))
    expect(await closeOf(client)).toEqual({ code: CLOSE.policy, reason: 'PROTOCOL_INVALID' })
    const errors = client.frames.slice(1, -1).map(({ payload }) => JSON.parse(payload.toString()) as object)
    expect(errors).toHaveLength(10)
    expect(errors[0]).toMatchObject({ route: { operation: 'error' }, content: { code: 'PROTOCOL_INVALID' } })
    expect(onFrame).not.toHaveBeenCalled()
  })

  it.each([
    ['a message over the cap', 0x81, Buffer.alloc(LIMITS.maxFrameBytes + 1, 0x20), CLOSE.tooBig],
    ['invalid UTF-8', 0x81, Buffer.from([0xff, 0xfe]), 1007],
    ['compressed', 0xc1, Buffer.from('x'), 1002],
    ['a reserved opcode', 0x83, Buffer.from('x'), 1002],
    ['binary', 0x82, Buffer.from('{}'), CLOSE.policy],
  ])('S04: close it when they are %s', async (_, first, payload, code) => {
    const client = await openRaw('edge-1')
    client.frame(first, payload)
    expect(await closeOf(client)).toMatchObject({ code })
  })

  it('S04: close it when a declared length is absurd, or one message has fragments without end', async () => {
    const absurd = await openRaw('edge-1')
    absurd.socket.write(Buffer.from([0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]))
    expect((await closeOf(absurd)).code).toBe(CLOSE.tooBig)
    const endless = await openRaw('edge-2')
    endless.frame(0x01, Buffer.from('{'))
    for (let i = 0; i < 1100; i++) endless.frame(0x00, Buffer.from(' '))
    expect([CLOSE.policy, CLOSE.tooBig]).toContain((await closeOf(endless)).code)
  })

  it.each([
    ['messages', 0x81, Buffer.from(frame('keepalive', {}))],
    ['pings', 0x89, Buffer.from('x')],
    ['unasked pongs', 0x8a, Buffer.from('x')],
  ])('S33: close it when %s flood in', async (_, first, payload) => {
    const client = await openRaw('edge-1')
    for (let i = 0; i < LIMITS.messageBurst + 1; i++) client.frame(first, payload)
    expect(await closeOf(client)).toEqual({ code: CLOSE.tooFast, reason: 'TooFast' })
    expect(client.frames.filter(({ opcode }) => opcode === 10).length).toBeLessThanOrEqual(
      LIMITS.messageBurst,
    )
  })

  it('S33: may be as many as the rate allows, for as long as they like', async () => {
    const client = await openRaw('edge-1')
    let heard = 0
    hub.sessions[0]?.onFrame(() => {
      heard += 1
    })
    for (let second = 1; second <= 10; second++) {
      for (let i = 0; i < LIMITS.messagesPerSecond; i++) client.text(frame('answer', answer))
      await until(() => heard === second * LIMITS.messagesPerSecond)
      await clock.advance(1_000)
    }
    expect(client.close).toBeUndefined()
  })
})

describe('S03: mutated frames', () => {
  it('never harm the hub or another session, and end their own with a code', {
    timeout: 60_000,
  }, async () => {
    const good = await openRaw('good')
    good.pongs = true
    const texts = [
      frame('answer', answer, 'upgrade/j/node/edge'),
      frame('hello', HELLO),
      frame('keepalive', {}),
    ]
    const codes = new Set<number>()
    let left = 10_000
    const tls = await pki.edge('edge')
    while (left > 0) {
      await clock.advance(1_000)
      const client = await rawClient('edge', tls)
      client.upgrade('edge')
      client.hello()
      for (let i = 0; i < 50 && left > 0; i++, left--)
        client.frame(0x81, mutate(texts[left % texts.length] ?? ''))
      codes.add((await closeOf(client)).code)
      client.socket.destroy()
      clients.splice(1)
    }
    for (const code of codes) expect([1007, CLOSE.policy, CLOSE.unsupportedPeer]).toContain(code)
    good.text(frame('dance', {}))
    await until(() => good.frames.some(({ payload }) => payload.includes('UNSUPPORTED')))
  })
})

/** The same bytes in every run (mulberry32), so that what fails can be looked at. */
let state = 20_260_101
function randomByte(): number {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return (t ^ (t >>> 14)) & 255
}

/** A frame with a byte changed, cut, filled up, of other types, or nested. */
function mutate(text: string): Buffer {
  const bytes = Buffer.from(text)
  const kind = randomByte()
  const spot = Math.floor((randomByte() / 256) * bytes.length)
  if (kind < 64) return bytes.subarray(0, spot)
  const noise = Buffer.from(Array.from({ length: 8 }, randomByte))
  if (kind < 128) return Buffer.concat([bytes.subarray(0, spot), noise, bytes.subarray(spot)])
  if (kind < 160) return Buffer.from(text.replace(/"content":/, '"content":null,"content":'))
  if (kind < 192) return Buffer.from(text.replace(/:\s*"[^"]*"/, ':9007199254740993e99'))
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  if (kind < 224) return Buffer.from(text.replace(/"content":/, `"content":${deep},"content":`))
  bytes[spot] = randomByte()
  return bytes
}
