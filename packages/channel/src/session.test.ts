import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { CLOSE, type Frame, LIMITS, OPERATION, type Probe, type Welcome } from '@upgrade-hub/protocol'
import { afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import { type DialOptions, type DialState, dial, type EdgeDialer } from './dial.ts'
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
const running: { stop: AbortController; done: Promise<void> }[] = []
beforeEach(() => {
  clock = new FakeClock()
})
afterEach(async () => {
  for (const { stop } of running) stop.abort()
  await Promise.all(running.splice(0).map(({ done }) => done))
  await hub.stop()
})

interface TestEdge {
  readonly dialer: EdgeDialer
  readonly welcomes: Welcome[]
  readonly frames: Frame[]
  readonly states: DialState[]
  readonly stop: AbortController
  readonly done: Promise<void>
}

async function startEdge(nodeName: string, more: Partial<DialOptions> = {}): Promise<TestEdge> {
  const tls = await pki.edge(nodeName)
  const edge = { welcomes: [], frames: [], states: [], stop: new AbortController() } as unknown as TestEdge
  const dialer = dial({
    url: hub.url,
    nodeName,
    tls: () => Promise.resolve(tls),
    hello: () => Promise.resolve(HELLO),
    probe: () => undefined,
    onWelcome: (welcome) => edge.welcomes.push(welcome),
    onFrame: (frame) => edge.frames.push(frame),
    onStateChange: (state) => edge.states.push(state),
    clock,
    log: silentLogger,
    signal: edge.stop.signal,
    random: () => 0.5,
    ...more,
  })
  const done = dialer.run()
  running.push({ stop: edge.stop, done })
  return Object.assign(edge, { dialer, done })
}

async function connected(edge: TestEdge, times = 1): Promise<void> {
  await until(() => edge.welcomes.length === times && hub.gate.sessions.size > 0)
}

const lastState = (edge: TestEdge) => edge.states.at(-1)
const taskRef = { Task: 't', TaskUID: 'u', Attempt: 1, IntentSeq: 1 }

describe('a session', () => {
  it('opens with hello and welcome over mutual TLS, and carries frames both ways', async () => {
    hub = await startHub(pki, { clock })
    const edge = await startEdge('edge-1')
    await connected(edge)
    const session = hub.gate.sessions.get('edge-1')
    expect(session?.hello).toEqual(HELLO)
    expect(edge.welcomes).toEqual([WELCOME])
    const received: Frame[] = []
    session?.onFrame((frame) => received.push(frame))
    expect(session?.send(OPERATION.cancel, 'upgrade/job/node/edge-1', taskRef)).toBe(true)
    await until(() => edge.frames.length === 1)
    expect(edge.frames[0]).toMatchObject({ operation: 'cancel', content: taskRef })
    const answer = { ...taskRef, Value: 'done', Code: '', Reason: '' }
    const parentId = edge.frames[0]?.msgId ?? ''
    edge.dialer.send(OPERATION.answer, 'upgrade/job/node/edge-1', answer, { parentId })
    await until(() => received.length === 1)
    expect(received[0]).toMatchObject({ operation: 'answer', content: answer, parentId })
  })

  it('is welcomed before anything else is sent, and early frames of the edge wait for the listeners', async () => {
    const open = Promise.withResolvers<Welcome>()
    const seen: string[] = []
    hub = await startHub(pki, {
      clock,
      welcome: () => open.promise,
      onSession: (session) => session.onFrame((frame) => seen.push(frame.operation)),
    })
    const edge = await startEdge('edge-1')
    expect(edge.dialer.send(OPERATION.answer, '', {})).toBe(false)
    open.resolve(WELCOME)
    await connected(edge)
    edge.dialer.send(OPERATION.answer, '', { ...taskRef, Value: 'done', Code: '', Reason: '' })
    await until(() => seen.length === 1)
  })

  it('is closed with the code that the hub gives instead of a welcome', async () => {
    hub = await startHub(pki, {
      clock,
      welcome: () => Promise.resolve({ closeCode: CLOSE.revoked, reason: 'Revoked' }),
    })
    const edge = await startEdge('edge-1')
    await until(() => lastState(edge)?.state === 'waiting')
    expect(lastState(edge)).toMatchObject({ code: CLOSE.revoked, reason: 'Revoked' })
    expect(hub.gate.sessions.size).toBe(0)
  })

  it('brings a changed probe at once and an unchanged one to nobody', async () => {
    hub = await startHub(pki, { clock })
    let probe: Probe = HELLO.probe
    const edge = await startEdge('edge-1', { probe: () => probe })
    await connected(edge)
    const probes: Probe[] = []
    hub.sessions[0]?.onProbe((changed) => probes.push(changed))
    edge.dialer.keepalive()
    probe = { version: 'v1.21.0', bootID: 'boot' }
    edge.dialer.keepalive()
    await until(() => probes.length > 0)
    expect(probes).toEqual([probe])
    expect(hub.sessions[0]?.probe).toEqual(probe)
  })

  it('survives a listener that throws, on either side', async () => {
    const onFrame = vi.fn<() => void>(() => {
      throw new Error('listener')
    })
    hub = await startHub(pki, { clock })
    const edge = await startEdge('edge-1', { onFrame })
    await connected(edge)
    const session = hub.sessions[0]
    session?.onFrame(onFrame)
    edge.dialer.send(OPERATION.answer, '', { ...taskRef, Value: 'done', Code: '', Reason: '' })
    session?.send(OPERATION.cancel, '', taskRef)
    await until(() => onFrame.mock.calls.length === 2)
    expect(edge.dialer.connected).toBe(true)
    expect(hub.gate.sessions.get('edge-1')).toBe(session)
  })

  it('answers what it does not know with UNSUPPORTED and stays open', async () => {
    hub = await startHub(pki, { clock })
    const edge = await startEdge('edge-1')
    await connected(edge)
    const received: Frame[] = []
    hub.sessions[0]?.onFrame((frame) => received.push(frame))
    hub.sessions[0]?.send('restart', '', {})
    await until(() => received.length === 1)
    expect(received[0]).toMatchObject({ operation: 'error', content: { code: 'UNSUPPORTED' } })
    edge.dialer.send('dance', '', {})
    await until(() => edge.frames.length === 1)
    expect(edge.frames[0]).toMatchObject({ operation: 'error', content: { code: 'UNSUPPORTED' } })
    expect(edge.dialer.connected).toBe(true)
  })

  it('S27: belongs to the newest of two machines with one certificate; the fight is slowed and reported', async () => {
    hub = await startHub(pki, { clock })
    const first = await startEdge('edge-1')
    await connected(first)
    const second = await startEdge('edge-1')
    await connected(second)
    await until(() => lastState(first)?.state === 'waiting')
    expect(lastState(first)).toMatchObject({ code: CLOSE.superseded })
    expect((lastState(first) as { ms: number }).ms).toBeGreaterThanOrEqual(10_000)
    expect(hub.gate.sessions.get('edge-1')).toBe(hub.sessions[1])
    expect(hub.conflicts).toEqual([])
    for (const [edge, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const times = edge.welcomes.length
      await clock.advance(10_000 + 5_000)
      await connected(edge, times + 1)
      await until(() => lastState(other)?.state === 'waiting')
    }
    expect(hub.conflicts).toEqual(['edge-1 FlipFlop'])
  })
})

describe('silence', () => {
  it('is broken by pings of the hub and keepalives of the edge, so an idle session stays', async () => {
    const hubClock = new FakeClock()
    hub = await startHub(pki, { clock: hubClock })
    const edge = await startEdge('edge-1')
    await connected(edge)
    const heardByEdge = vi.spyOn(clock, 'monotonic')
    const heardByHub = vi.spyOn(hubClock, 'monotonic')
    for (let beat = 0; beat < 2 * LIMITS.missedHeartbeats; beat++) {
      await letHear(hubClock, heardByEdge)
      await letHear(clock, heardByHub)
    }
    expect(edge.dialer.connected).toBe(true)
    expect(hub.gate.sessions.size).toBe(1)
  })

  it('of three heartbeats ends the session at the edge', async () => {
    hub = await startHub(pki, { clock: new FakeClock() })
    const edge = await startEdge('edge-1')
    await connected(edge)
    await clock.advance(3 * LIMITS.heartbeatMs - 1)
    expect(edge.dialer.connected).toBe(true)
    await clock.advance(1)
    await until(() => lastState(edge)?.state === 'waiting')
    expect(lastState(edge)).toMatchObject({ code: CLOSE.heartbeatLost })
  })

  it('of three heartbeats ends the session at the hub', async () => {
    hub = await startHub(pki, { clock })
    const dead = new RawClient(hub.port, await pki.edge('edge-1'))
    dead.upgrade('edge-1')
    dead.hello()
    await until(() => hub.gate.sessions.size === 1)
    await clock.advance(3 * LIMITS.heartbeatMs - 1)
    await until(() => dead.frames.filter(({ opcode }) => opcode === 9).length === 2)
    expect(hub.gate.sessions.size).toBe(1)
    await clock.advance(1_000)
    await dead.closed
    expect(await hub.sessions[0]?.closed).toEqual({ code: CLOSE.heartbeatLost, reason: 'HeartbeatLost' })
  })
})

/** One heartbeat of one end, until the other has heard it: hearing is when it looks at its clock. */
async function letHear(sender: FakeClock, heard: MockInstance<() => number>): Promise<void> {
  heard.mockClear()
  await sender.advance(LIMITS.heartbeatMs)
  await until(() => heard.mock.calls.length > 0)
}

/** Lets both event loops see what is under way: a frame there, its answer back. */
async function roundTrip(edge: TestEdge): Promise<void> {
  const before = edge.frames.length
  edge.dialer.send('dance', '', {})
  await until(() => edge.frames.length > before || !edge.dialer.connected)
}

describe('the end of a hub', () => {
  it('is announced: the edge waits as long as asked, at most twice, then comes back', async () => {
    hub = await startHub(pki, { clock })
    const edge = await startEdge('edge-1')
    await connected(edge)
    const { port } = hub
    const closing = hub.gate.close(20)
    await closing
    await hub.stop()
    await until(() => lastState(edge)?.state === 'waiting')
    expect(lastState(edge)).toMatchObject({ ms: 30_000 })
    hub = await startHub(pki, { clock, port })
    await clock.advance(29_999)
    expect(edge.welcomes).toHaveLength(1)
    await clock.advance(1)
    await connected(edge, 2)
  })

  it('does not wait for an edge that does not answer', async () => {
    hub = await startHub(pki, { clock })
    const deaf = new RawClient(hub.port, await pki.edge('edge-1'))
    deaf.upgrade('edge-1')
    deaf.hello()
    await until(() => hub.gate.sessions.size === 1)
    const closing = hub.gate.close(1)
    await until(() => deaf.close !== undefined)
    expect(deaf.close).toEqual({ code: CLOSE.goingAway, reason: 'GoAway' })
    expect(JSON.parse(deaf.frames.at(-2)?.payload.toString() ?? '')).toMatchObject({
      route: { operation: 'goAway' },
      content: { retryAfterSeconds: 1 },
    })
    await clock.advance(6_000)
    await closing
    await deaf.closed
  })
})

describe('reconnecting', () => {
  it('goes on through a hub that is down, slower each time, and begins anew after a good session', async () => {
    hub = await startHub(pki, { clock })
    const { port } = hub
    await hub.stop()
    const edge = await startEdge('edge-1')
    const waits: number[] = []
    for (let i = 0; i < 10; i++) {
      await until(() => lastState(edge)?.state === 'waiting' && waits.length === i)
      const { ms } = lastState(edge) as { ms: number }
      waits.push(ms)
      await until(() => clock.pending === 1)
      await clock.advance(ms)
    }
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
    hub = await startHub(pki, { clock, port })
    await until(() => lastState(edge)?.state === 'waiting')
    await clock.advance(30_000)
    await connected(edge)
    for (let i = 0; i < 6; i++) {
      await clock.advance(10_000)
      await roundTrip(edge)
    }
    hub.sessions[0]?.close(CLOSE.normal, 'x')
    await until(() => lastState(edge)?.state === 'waiting')
    expect(lastState(edge)).toMatchObject({ ms: 250 })
  })

  it('uses the certificate that is there at that moment (S29)', async () => {
    hub = await startHub(pki, { clock })
    const tls = vi.fn<() => Promise<Awaited<ReturnType<TestPki['edge']>>>>()
    const stranger = await makePki()
    tls.mockResolvedValueOnce({ ...(await stranger.edge('edge-1')), ca: pki.ca.certPem })
    tls.mockResolvedValue(await pki.edge('edge-1'))
    const edge = await startEdge('edge-1', { tls })
    await until(() => lastState(edge)?.state === 'waiting')
    expect(edge.welcomes).toHaveLength(0)
    await clock.advance(250)
    await connected(edge)
    expect(tls).toHaveBeenCalledTimes(2)
  })

  it('never speaks to a hub of another CA', async () => {
    hub = await startHub(pki, { clock })
    const { ca } = await makePki()
    const tls = { ...(await pki.edge('edge-1')), ca: ca.certPem }
    const edge = await startEdge('edge-1', { tls: () => Promise.resolve(tls) })
    await until(() => lastState(edge)?.state === 'waiting')
    expect((lastState(edge) as { reason: string }).reason).toMatch(/CERT|SIGNATURE/)
    expect(hub.sessions).toHaveLength(0)
  })

  it('waits as long as a refusing hub asks, but not for ever', async () => {
    const authorize =
      vi.fn<() => Promise<{ status: number; code: string; message: string; retryAfterSeconds: number }>>()
    authorize.mockResolvedValue({ status: 503, code: 'UNAVAILABLE', message: 'x', retryAfterSeconds: 40 })
    hub = await startHub(pki, { clock, authorize })
    const edge = await startEdge('edge-1')
    await until(() => lastState(edge)?.state === 'waiting')
    expect(lastState(edge)).toMatchObject({ ms: 60_000, reason: 'the hub answered 503 UNAVAILABLE' })
    authorize.mockResolvedValue({ status: 503, code: 'UNAVAILABLE', message: 'x', retryAfterSeconds: 1e9 })
    await clock.advance(60_000)
    await until(() => edge.states.filter(({ state }) => state === 'waiting').length === 2)
    expect(lastState(edge)).toMatchObject({ ms: 450_000 })
  })

  it('stops at once when it is told to, in any state', async () => {
    hub = await startHub(pki, { clock })
    const open = await startEdge('edge-1')
    await connected(open)
    open.stop.abort()
    await open.done
    await until(() => hub.gate.sessions.size === 0)
    await hub.stop()
    const waiting = await startEdge('edge-1')
    await until(() => lastState(waiting)?.state === 'waiting')
    waiting.stop.abort()
    await waiting.done
    expect(clock.pending).toBe(0)
  })
})

describe('what the edge sends', () => {
  it('is paced below the rate of the hub, and refused when too much waits', async () => {
    hub = await startHub(pki, { clock })
    const edge = await startEdge('edge-1')
    await connected(edge)
    let received = 0
    hub.sessions[0]?.onFrame(() => {
      received += 1
    })
    const answer = { ...taskRef, Value: 'done', Code: '', Reason: '' }
    const sent = Array.from({ length: 700 }, () => edge.dialer.send(OPERATION.answer, '', answer))
    expect(sent.filter(Boolean)).toHaveLength(30 + 512)
    for (let second = 0; second < 22; second++) {
      await clock.advance(1000)
      await until(() => received >= Math.min(542, 30 + 24 * (second + 1)) || !edge.dialer.connected)
    }
    expect(received).toBe(542)
    expect(edge.dialer.connected).toBe(true)
  })
})
