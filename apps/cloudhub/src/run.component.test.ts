import { X509Certificate } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { dial, type EdgeDialer } from '@upgrade-hub/channel'
import { historyId, microTime, silentLogger, systemClock } from '@upgrade-hub/core'
import { connect, type KubeClient, LEASES, NODES } from '@upgrade-hub/kube'
import { createNodeCsr } from '@upgrade-hub/pki'
import { type Answer, CLOSE, type Frame, OPERATION, type Result, type TaskRef } from '@upgrade-hub/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openHubCa } from './certificates/hub-ca.ts'
import { checkConfig, type HubConfig } from './config.ts'
import { LEASE_NAME } from './controllers/index.ts'
import { createToken } from './gateway/tokens.ts'
import { IDENTITIES, JOBS, TASKS } from './kube-api.ts'
import { type Hub, startHub } from './run.ts'
import { startEmbeddedApi } from './setup/embedded-api.ts'
import { callHttps } from './testing/https-call.ts'

const HOST = '127.0.0.1'
const IN_HUB = { namespace: 'upgrade-hub' }
let dataDir: string
let hub: Hub
let client: KubeClient
let caPem: string

function config(): HubConfig {
  return checkConfig({
    logLevel: 'silent',
    embedded: { enabled: true, dataDir, port: 0 },
    listen: { host: HOST, websocketPort: 0, httpsPort: 0, webhookPort: 0, metricsPort: 0 },
  })
}

async function start(): Promise<void> {
  hub = await startHub(config())
  client = await connect({ kubeconfig: hub.kubeconfig ?? '', clock: systemClock, log: silentLogger })
  caPem = (await openHubCa(client, silentLogger)).ca.certPem
}

async function stop(): Promise<void> {
  await client.close()
  await hub.stop()
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cloudhub-run-'))
  await start()
})
afterAll(async () => {
  await stop()
  await rm(dataDir, { recursive: true })
})

/** Looks every 20 ms for at most 4 s, and says at what it looked last. */
async function eventually<T>(look: () => Promise<T> | T, isRight: (seen: T) => boolean): Promise<T> {
  const until = performance.now() + 4_000
  for (;;) {
    const seen = await look()
    if (isRight(seen)) return seen
    if (performance.now() > until) throw new Error(`still ${JSON.stringify(seen)}`)
    await systemClock.sleep(20)
  }
}

interface Credentials {
  readonly cert: string
  readonly key: string
}

async function enrol(nodeName: string): Promise<Credentials> {
  const { token } = await createToken(client, await openHubCa(client, silentLogger), {
    nodeName,
    ttlMs: 60_000,
  })
  const { csrDer, keyPem } = await createNodeCsr({ nodeName })
  const answer = await callHttps({
    port: hub.ports.https ?? 0,
    ca: caPem,
    path: '/edge.crt',
    method: 'POST',
    body: csrDer,
    headers: { nodename: nodeName, authorization: `Bearer ${token}` },
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return { cert: new X509Certificate(answer.body).toString(), key: keyPem }
}

/** As a hub leaves it that had just renewed its lease. */
async function holdLease(holderIdentity: string): Promise<void> {
  const options = { clock: systemClock, log: silentLogger }
  const api = await startEmbeddedApi(config().embedded, options)
  const alone = await connect({ kubeconfig: api.kubeconfig, ...options })
  const renewTime = microTime(alone.serverNow())
  await alone.patch(LEASES, LEASE_NAME, { spec: { holderIdentity, renewTime } }, IN_HUB)
  await alone.close()
  await api.stop()
}

/** An edge that does what it is told at once, without a node under it. */
class QuickEdge {
  readonly nodeName: string
  readonly credentials: Credentials
  readonly states: { code?: number }[] = []
  readonly proceeds: Frame[] = []
  version = 'v1.11.0'
  readonly #stop = new AbortController()
  readonly #dialer: EdgeDialer

  constructor(nodeName: string, credentials: Credentials, machineID = 'machine-1') {
    this.nodeName = nodeName
    this.credentials = credentials
    this.#dialer = dial({
      url: `wss://${HOST}:${hub.ports.websocket}`,
      nodeName,
      tls: () => Promise.resolve({ ca: caPem, ...credentials }),
      hello: () =>
        Promise.resolve({
          protocol: 1 as const,
          capabilities: ['registerNode'],
          node: { bootID: 'boot-1', machineID, timeZone: 'UTC' },
          edgeVersion: '0.1.0',
          hubVersion: '',
          platform: { os: 'linux', arch: 'amd64' },
          probe: this.#probe(),
          open: [],
          undelivered: 0,
        }),
      onWelcome: () => undefined,
      onFrame: (frame) => this.#onFrame(frame),
      probe: () => this.#probe(),
      clock: systemClock,
      log: silentLogger,
      signal: this.#stop.signal,
      onStateChange: (state) => this.states.push(state as { code?: number }),
    })
    void this.#dialer.run()
  }

  get connected(): boolean {
    return this.#dialer.connected
  }

  stop(): void {
    this.#stop.abort()
  }

  post(body: Result) {
    const to = { port: hub.ports.https ?? 0, ca: caPem, path: '/nodeupgrade' }
    return callHttps({ ...to, ...this.credentials, body: JSON.stringify(body) })
  }

  #probe() {
    return { version: this.version, bootID: 'boot-1' }
  }

  #onFrame(frame: Frame): void {
    const ref = frame.content as TaskRef
    if (frame.operation === OPERATION.prepare) {
      this.#answer(frame, { Value: 'accepted' })
      const Platform = { os: 'linux', arch: 'amd64' }
      this.#answer(frame, {
        Value: 'prepared',
        FromVersion: this.version,
        Platform,
        IndexDigest: `sha256:${'0'.repeat(64)}`,
      })
    }
    if (frame.operation !== OPERATION.proceed) return
    this.#answer(frame, { Value: 'accepted' })
    this.proceeds.push(frame)
    this.version = 'v1.12.0'
    this.#dialer.keepalive()
    const result = resultOf(this.nodeName, ref, frame.resource.split('/')[1] ?? '')
    for (let i = 0; i < 3; i++) void this.post(result)
  }

  #answer({ content, resource }: Frame, over: Partial<Answer>): void {
    const { Task, TaskUID, Attempt, IntentSeq } = content as TaskRef
    const answer = { Task, TaskUID, Attempt, IntentSeq, Code: '', Reason: '', ...over }
    this.#dialer.send(OPERATION.answer, resource, answer)
  }
}

function resultOf(NodeName: string, { Task, TaskUID, Attempt }: TaskRef, UpgradeID: string): Result {
  return {
    UpgradeID,
    HistoryID: historyId(Task, Attempt),
    NodeName,
    FromVersion: 'v1.11.0',
    ToVersion: 'v1.12.0',
    Status: 'upgrade_success',
    Reason: '',
    Outcome: 'Succeeded',
    Code: 'Upgraded',
    RunningVersion: 'v1.12.0',
    TaskUID,
  }
}

const readyOf = async (name: string) =>
  (await client.get(NODES, name)).status?.conditions?.find(({ type }) => type === 'Ready')?.status

async function upgrade(name: string, nodeName: string): Promise<void> {
  await client.create(JOBS, {
    apiVersion: 'operations.kubeedge.io/v1alpha2',
    kind: 'NodeUpgradeJob',
    metadata: { name },
    spec: { version: 'v1.12.0', nodeNames: [nodeName] },
  } as NodeUpgradeJob)
  await eventually(
    async () => (await client.get(JOBS, name)).status?.phase,
    (phase) => phase === 'Completed' || phase === 'Failure',
  )
}

const taskOf = async (job: string) =>
  (await client.list(TASKS, { fieldSelector: `spec.jobName=${job}` })).items[0]

describe('the hub with the embedded API', () => {
  it('takes an edge from its token to the end of its upgrade', async () => {
    const edge = new QuickEdge('edge-1', await enrol('edge-1'))
    await eventually(() => edge.connected, Boolean)
    await eventually(
      () => readyOf('edge-1'),
      (ready) => ready === 'True',
    )
    await upgrade('first', 'edge-1')
    const task = await taskOf('first')
    expect(task?.status).toMatchObject({ phase: 'Successful', fromVersion: 'v1.11.0', toVersion: 'v1.12.0' })
    expect(task?.status?.edge?.results).toEqual([
      expect.objectContaining({ attempt: 1, outcome: 'Succeeded' }),
    ])
    expect(task?.status?.edge?.late).toBeUndefined()
    expect(edge.proceeds).toHaveLength(1)
    const node = await client.get(NODES, 'edge-1')
    expect(node.spec?.unschedulable ?? false).toBe(false)
    expect(node.status?.nodeInfo?.kubeletVersion).toBe('v1.12.0')
    edge.stop()
  })

  it('answers a result again after its job is over, and refuses what it never asked for', async () => {
    const edge = new QuickEdge('edge-2', await enrol('edge-2'))
    await eventually(() => edge.connected, Boolean)
    await upgrade('second', 'edge-2')
    const task = await taskOf('second')
    const ref = {
      Task: task?.metadata.name ?? '',
      TaskUID: task?.metadata.uid ?? '',
      Attempt: 1,
      IntentSeq: 0,
    }
    const post = async (over: Partial<TaskRef>) =>
      (await edge.post(resultOf('edge-2', { ...ref, ...over }, 'second'))).status
    expect(await post({})).toBe(200)
    expect(await post({ Attempt: 2 })).toBe(403)
    expect(await post({ TaskUID: 'another' })).toBe(404)
    expect(await post({ Task: 'gone' })).toBe(404)
    const first = await taskOf('first')
    expect(await post({ Task: first?.metadata.name ?? '', TaskUID: first?.metadata.uid ?? '' })).toBe(403)
    expect((await taskOf('first'))?.status?.edge?.results).toHaveLength(1)
    edge.stop()
  })

  it('refuses a second machine with the same certificate (S27)', async () => {
    const credentials = await enrol('edge-3')
    const edge = new QuickEdge('edge-3', credentials)
    await eventually(() => edge.connected, Boolean)
    const clone = new QuickEdge('edge-3', credentials, 'machine-2')
    await eventually(
      () => JSON.stringify(clone.states),
      (seen) => seen.includes(String(CLOSE.policy)),
    )
    expect([edge.connected, clone.connected]).toEqual([true, false])
    edge.stop()
    clone.stop()
  })

  it('ends the session of an edge whose identity is deleted, and lets it in no more', async () => {
    const edge = new QuickEdge('edge-4', await enrol('edge-4'))
    await eventually(() => edge.connected, Boolean)
    await client.delete(IDENTITIES, 'edge-4')
    await eventually(
      () => JSON.stringify(edge.states),
      (seen) => seen.includes(String(CLOSE.revoked)),
    )
    expect(
      (await edge.post(resultOf('edge-4', { Task: 'x', TaskUID: 'x', Attempt: 1, IntentSeq: 0 }, 'x')))
        .status,
    ).toBe(401)
    edge.stop()
  })

  it('refuses a bad job through the API with the sentence of the rules', async () => {
    const spec = { version: '1.x', nodeNames: ['edge-1'] }
    const bad = {
      apiVersion: 'operations.kubeedge.io/v1alpha2',
      kind: 'NodeUpgradeJob',
      metadata: { name: 'bad' },
      spec,
    }
    await expect(client.create(JOBS, bad as NodeUpgradeJob)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('invalid version 1.x'),
    })
  })

  it('is found as it was after a restart: same CA, same identities, same jobs', async () => {
    const edge = new QuickEdge('edge-5', await enrol('edge-5'))
    await eventually(() => edge.connected, Boolean)
    const before = caPem
    await stop()
    await eventually(
      () => JSON.stringify(edge.states),
      (seen) => seen.includes('GoAway'),
    )
    edge.stop()
    await start()
    expect(caPem).toBe(before)
    expect((await client.get(JOBS, 'first')).status?.phase).toBe('Completed')
    const again = new QuickEdge('edge-5', edge.credentials)
    await eventually(() => again.connected, Boolean)
    again.stop()
  })

  it('goes on at once after it was killed: with its API server nobody else can hold its lease', async () => {
    await stop()
    await holdLease('embedded_killed')
    await start()
    const holder = async () => (await client.get(LEASES, LEASE_NAME, IN_HUB)).spec?.holderIdentity ?? ''
    const next = await eventually(holder, (seen) => seen !== 'embedded_killed')
    expect(next).toMatch(/^embedded_/)
  })

  it('says what it measures without naming a node', async () => {
    const page = await (await fetch(`http://${HOST}:${hub.ports.metrics}/metrics`)).text()
    expect(page).toContain('upgradehub_sessions ')
    expect(page).not.toContain('edge-1')
  })
})

describe('startHub', () => {
  it('lets go of everything when it cannot start, and says why', async () => {
    const port = hub.ports.https ?? 0
    const clash = checkConfig({
      logLevel: 'silent',
      kubernetes: { kubeconfig: hub.kubeconfig },
      listen: { host: HOST, websocketPort: 0, httpsPort: port, webhookPort: 0, metricsPort: 0 },
    })
    await expect(startHub(clash)).rejects.toMatchObject({ code: 'HUB_PORT_IN_USE' })
  })

  it('runs the roles that are on, and stops when it is told to', async () => {
    const told = new AbortController()
    const only = checkConfig({
      logLevel: 'silent',
      roles: { controllers: false, channel: false, webhooks: true },
      kubernetes: { kubeconfig: hub.kubeconfig },
      listen: { host: HOST, webhookPort: 0, metricsPort: 0 },
      webhooks: { configurationName: 'another' },
    })
    const { ports, ...started } = await startHub(only, { signal: told.signal })
    expect(Object.keys(ports).toSorted()).toEqual(['metrics', 'webhooks'])
    told.abort()
    await started.stop()
    await expect(fetch(`http://${HOST}:${ports.metrics}/healthz`)).rejects.toThrow('fetch failed')
  })

  it('does not start when it was told to stop before', async () => {
    await expect(startHub(config(), { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop')
  })
})
