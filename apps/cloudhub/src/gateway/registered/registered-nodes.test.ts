import { type Node, REGISTERED_ANNOTATION } from '@upgrade-hub/api'
import type { EdgeSession } from '@upgrade-hub/channel'
import { microTime, silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { LEASES, NODES } from '@upgrade-hub/kube'
import type { Hello, Probe } from '@upgrade-hub/protocol'
import { slimNode } from '@upgrade-hub/rollout'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeKube } from '../../testing/fake-kube.ts'
import { leaseObject } from './facts.ts'
import { RegisteredNodes } from './registered-nodes.ts'

let kube: FakeKube
let clock: FakeClock
let registered: RegisteredNodes
let stop: AbortController

beforeEach(() => {
  kube = new FakeKube()
  clock = new FakeClock()
  stop = new AbortController()
  registered = makeReplica()
})

function makeReplica(): RegisteredNodes {
  const cached = (name: string) => {
    const node = kube.peek(NODES, name)
    return node && slimNode(node as Node)
  }
  const nodes = { get: cached, list: () => kube.all(NODES).map((node) => slimNode(node as Node)) }
  return new RegisteredNodes({ client: kube, nodes, clock, log: silentLogger })
}

/** API-server time goes with the clock. */
async function pass(ms: number): Promise<void> {
  const steps = Math.ceil(ms / 1000)
  for (let i = 0; i < steps; i++) {
    kube.now += 1000
    await clock.advance(1000)
  }
}

class FakeSession {
  readonly nodeName = 'n1'
  readonly closing = Promise.withResolvers<{ code: number; reason: string }>()
  readonly closed = this.closing.promise
  probe: Probe
  readonly hello: Hello
  #listener: (probe: Probe) => void = () => undefined

  constructor(version: string, capabilities = ['registerNode']) {
    this.probe = { version, bootID: 'boot-1' }
    this.hello = {
      protocol: 1,
      capabilities,
      node: { bootID: 'boot-1', machineID: 'm1', timeZone: 'UTC' },
      edgeVersion: '',
      hubVersion: '',
      platform: { os: 'linux', arch: 'arm64' },
      probe: this.probe,
      open: [],
      undelivered: 0,
    }
  }

  onProbe(listener: (probe: Probe) => void): void {
    this.#listener = listener
  }

  becomes(version: string): void {
    this.probe = { version, bootID: 'boot-1' }
    this.#listener(this.probe)
  }

  end(): void {
    this.closing.resolve({ code: 1006, reason: '' })
  }
}

async function connect(version = 'v1.0.0', replica = registered): Promise<FakeSession> {
  const session = new FakeSession(version)
  await replica.nodeUid('n1', session.hello)
  await replica.opened(session as unknown as EdgeSession)
  await clock.advance(0)
  return session
}

const nodeOf = () => kube.peek(NODES, 'n1') as Node | undefined
const readyOf = (name = 'n1') =>
  (kube.peek(NODES, name) as Node | undefined)?.status?.conditions?.find(({ type }) => type === 'Ready')
    ?.status
const writes = () =>
  kube.calls.filter(({ verb, plural }) => plural === 'nodes' && verb !== 'get' && verb !== 'list')

async function makeReady(name: string): Promise<void> {
  await registered.nodeUid(name, new FakeSession('v1.0.0').hello)
  await kube.patch(NODES, name, { status: { conditions: [{ type: 'Ready', status: 'True' }] } })
}

/** Runs something once, at the moment the first node is reported gone. */
function whileCalledGone(happens: () => Promise<void>): void {
  let isDone = false
  kube.before = async ({ verb, body }) => {
    if (isDone || verb !== 'patch' || !JSON.stringify(body).includes('"Unknown"')) return
    isDone = true
    await happens()
  }
}

describe('RegisteredNodes', () => {
  it('makes the Node of an edge without a kubelet, and tells its UID before the first frame', async () => {
    const uid = await registered.nodeUid('n1', new FakeSession('v1.0.0').hello)
    expect(uid).toBe(nodeOf()?.metadata.uid)
    expect(nodeOf()?.metadata).toMatchObject({
      labels: { 'node-role.kubernetes.io/edge': '', 'node-role.kubernetes.io/agent': '' },
      annotations: { [REGISTERED_ANNOTATION]: 'true' },
    })
    expect(nodeOf()?.spec?.unschedulable).toBeUndefined()
  })

  it('makes none for an edge that does not ask, and touches none that a kubelet made', async () => {
    const silent = new FakeSession('v1.0.0', [])
    expect(await registered.nodeUid('n1', silent.hello)).toBe('')
    await registered.opened(silent as unknown as EdgeSession)
    expect(kube.calls).toEqual([])
    kube.put(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } })
    await connect()
    await pass(120_000)
    expect(writes()).toEqual([])
  })

  it('says what runs there', async () => {
    await connect()
    expect(readyOf()).toBe('True')
    expect(nodeOf()?.status?.nodeInfo).toEqual({
      kubeletVersion: 'v1.0.0',
      architecture: 'arm64',
      operatingSystem: 'linux',
      bootID: 'boot-1',
    })
  })

  it('writes /status only, and only when a fact changes', async () => {
    const session = await connect()
    const before = writes().length
    session.becomes('v1.1.0')
    await clock.advance(0)
    expect(nodeOf()?.status?.nodeInfo?.kubeletVersion).toBe('v1.1.0')
    await pass(600_000)
    expect(writes().length).toBe(before + 1)
    const bodies = writes().map(({ body }) => Object.keys(body as object))
    expect(bodies.slice(1).flat()).toEqual(bodies.slice(1).map(() => 'status'))
  })

  it('costs nothing to reconnect, also at a replica that has never seen the node', async () => {
    const session = await connect()
    const before = writes().length
    session.end()
    await pass(5_000)
    const again = await connect()
    again.end()
    await connect('v1.0.0', makeReplica())
    expect(writes().length).toBe(before)
  })

  it('is not Ready while the agent does not tell its version, and keeps the last one', async () => {
    const session = await connect()
    session.becomes('')
    await clock.advance(0)
    expect(readyOf()).toBe('False')
    expect(nodeOf()?.status?.nodeInfo?.kubeletVersion).toBe('v1.0.0')
    session.becomes('v1.0.0')
    await clock.advance(0)
    expect(readyOf()).toBe('True')
  })

  it('renews the lease while the session lives', async () => {
    await connect()
    for (let i = 0; i < 10; i++) {
      await pass(20_000)
      const renewedAt = Date.parse(kube.peek(LEASES, 'n1')?.spec?.renewTime ?? '')
      expect(kube.now - renewedAt).toBeLessThan(40_000)
    }
    expect(kube.peek(LEASES, 'n1')?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Node', name: 'n1' })
  })

  it('is Unknown when nothing was heard for forty seconds, and Ready again when it is back', async () => {
    const session = await connect()
    await pass(10_000)
    session.end()
    await pass(39_000)
    expect(readyOf()).toBe('True')
    await pass(2_000)
    expect(readyOf()).toBe('Unknown')
    await connect()
    expect(readyOf()).toBe('True')
  })

  it('does not call a node gone that has moved to another replica', async () => {
    const session = await connect()
    session.end()
    await clock.advance(0)
    await connect('v1.0.0', makeReplica())
    await pass(120_000)
    expect(readyOf()).toBe('True')
  })

  it('finds a node whose replica died with its session', async () => {
    await connect()
    await pass(10_000)
    const { now } = kube
    kube.before = ({ verb, plural }) => {
      // The dead replica writes nothing any more.
      if (verb === 'patch' && plural === 'leases') throw new Error('dead')
    }
    const survivor = makeReplica()
    const running = survivor.run(stop.signal)
    await pass(80_000)
    expect(readyOf()).toBe('Unknown')
    expect(kube.now - now).toBeGreaterThan(40_000)
    stop.abort()
    await running
  })

  it('says Ready again when the edge comes back just while its node is called gone', async () => {
    const session = await connect()
    session.end()
    await pass(39_000)
    whileCalledGone(async () => void (await connect()))
    await pass(2_000)
    expect(readyOf()).toBe('True')
  })

  it('leaves alone in its sweep who came back while it went through the others', async () => {
    await makeReady('n0')
    await makeReady('n1')
    whileCalledGone(async () => void (await connect()))
    const running = registered.run(stop.signal)
    await pass(50_000)
    expect(readyOf('n0')).toBe('Unknown')
    expect(readyOf('n1')).toBe('True')
    stop.abort()
    await running
  })

  it('puts right what the sweep of another replica said of a node that is connected here', async () => {
    await connect()
    await kube.patch(NODES, 'n1', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } })
    await pass(25_000)
    expect(readyOf()).toBe('True')
  })

  it('leaves alone in its sweep who keeps a lease', async () => {
    await registered.nodeUid('n1', new FakeSession('v1.0.0').hello)
    await kube.patch(NODES, 'n1', { status: { conditions: [{ type: 'Ready', status: 'True' }] } })
    const running = registered.run(stop.signal)
    for (let i = 0; i < 12; i++) {
      kube.put(LEASES, leaseObject({ name: 'n1', uid: 'u' }, kube.now))
      await pass(10_000)
    }
    expect(readyOf()).toBe('True')
    expect(kube.peek(LEASES, 'n1')?.spec?.renewTime).toBe(microTime(kube.now - 10_000))
    stop.abort()
    await running
  })

  it('tries again while the API server is away', async () => {
    kube.before = ({ verb }) => {
      if (verb === 'patch') throw new Error('away')
    }
    await connect()
    kube.before = () => undefined
    await pass(60_000)
    expect(readyOf()).toBe('True')
  })
})
