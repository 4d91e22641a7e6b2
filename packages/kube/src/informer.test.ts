import { noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeClient } from './client.ts'
import { connectTo } from './connect.ts'
import { Informer, type InformerOptions } from './informer.ts'
import type { ReflectorTiming } from './reflector.ts'
import { CONFIG_MAPS, NODES, type Node } from './resources.ts'
import type { Change } from './store.ts'
import { FakeApiServer, type FakeRequest, refuse, until, type WatchListMode } from './testing/index.ts'

let server: FakeApiServer
let client: KubeClient
let stop: AbortController
const running: Promise<void>[] = []

beforeEach(async () => {
  server = await FakeApiServer.start()
  client = connectTo(server.access, { clock: systemClock, log: silentLogger })
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await Promise.all(running.splice(0))
  await client.close()
  await server[Symbol.asyncDispose]()
})

/** Everything a hundred times faster than in production. */
const QUICK: Partial<ReflectorTiming> = { minLifeMs: 20, backoff: { baseMs: 5, maxMs: 40 } }

const node = (name: string, spec: object = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  spec,
})
const isList = (request: FakeRequest) => request.method === 'GET' && !request.isWatch
const isWatch = (request: FakeRequest) => request.isWatch
const count = (matches: (request: FakeRequest) => boolean) => server.requests.filter(matches).length

function start<S = Node>(options: Partial<InformerOptions<Node, S>> = {}): Informer<Node, S> {
  const informer = new Informer<Node, S>({
    client,
    resource: NODES,
    clock: systemClock,
    log: silentLogger,
    timing: QUICK,
    ...options,
  })
  running.push(informer.run(stop.signal))
  return informer
}

/** An informer over node a that has seen it, and the changes it told since. */
async function started(mode: WatchListMode = 'served', timing: Partial<ReflectorTiming> = {}) {
  server.watchList = mode
  server.put(NODES, node('a'))
  const informer = start({ timing: { ...QUICK, ...timing } })
  const changes: Change<Node>[] = []
  await informer.synced()
  informer.onChange((change) => changes.push(change))
  await until('the watch is open', () => server.watches.length === 1)
  return { informer, changes }
}

const said = (changes: Change<unknown>[]) => changes.map(({ type, key }) => `${type} ${key}`)

describe.each<WatchListMode>(['served', 'refused', 'ignored'])('with WatchList %s', (mode) => {
  it('mirrors what exists and follows what happens, in order, with what was before', async () => {
    const { informer, changes } = await started(mode, { initialSilenceMs: 30 })
    server.put(NODES, node('b'))
    server.put(NODES, node('a', { unschedulable: true }))
    server.remove(NODES, 'b')
    await until('three changes', () => changes.length === 3)
    expect(said(changes)).toEqual(['added b', 'updated a', 'deleted b'])
    expect(changes[1]).toMatchObject({ item: { spec: { unschedulable: true } }, previous: { spec: {} } })
    expect(informer.list().map((item) => item.metadata.name)).toEqual(['a'])
  })
})

describe('the first state', () => {
  it('of many objects is read in pages, and told only when it is whole', async () => {
    server.watchList = 'refused'
    for (let i = 0; i < 1203; i++) server.put(NODES, node(`n${i}`))
    const informer = start()
    let sizeAtFirstChange = 0
    informer.onChange(() => {
      sizeAtFirstChange ||= informer.size
    })
    await informer.synced()
    expect([informer.size, sizeAtFirstChange, count(isList)]).toEqual([1203, 1203, 3])
  })

  it('starts again when its continue token is too old', async () => {
    server.watchList = 'refused'
    for (let i = 0; i < 600; i++) server.put(NODES, node(`n${i}`))
    server.plan(refuse(410, 'Expired', 'continue too old'), (request) => request.query.has('continue'))
    const informer = start()
    await informer.synced()
    expect(informer.size).toBe(600)
  })

  it('comes in spite of faults before it', async () => {
    server.put(NODES, node('a'))
    server.plan('reset', undefined, 2)
    server.plan(refuse(500, 'InternalError', 'boom'))
    const informer = start()
    expect([informer.hasSynced, informer.staleMs()]).toEqual([false, Number.POSITIVE_INFINITY])
    await informer.synced()
    expect(informer.get('a')?.metadata.name).toBe('a')
    expect(count(isList)).toBe(0)
  })

  it('can be waited for with a signal', async () => {
    server.plan('hang', undefined, 99)
    const informer = start()
    const patience = new AbortController()
    const waiting = informer.synced(patience.signal)
    patience.abort(new Error('no patience'))
    await expect(waiting).rejects.toThrow('no patience')
  })
})

describe('after a fault, the mirror goes on from where it was', () => {
  it('when the connection is reset', async () => {
    const { changes } = await started()
    server.watches[0]?.reset()
    server.put(NODES, node('b'))
    await until('the change', () => changes.length === 1)
    expect(said(changes)).toEqual(['added b'])
    expect(count((request) => request.query.has('sendInitialEvents'))).toBe(1)
  })

  it('when the server ends the watch', async () => {
    const { changes } = await started()
    server.watches[0]?.end()
    server.put(NODES, node('b'))
    await until('the change', () => changes.length === 1)
    expect(count((request) => request.query.has('sendInitialEvents'))).toBe(1)
  })

  it('when a line is no JSON', async () => {
    const { changes } = await started()
    server.watches[0]?.send('{"type":"ADDED","object":{"metad\n')
    await until('a second watch', () => count(isWatch) === 2)
    server.put(NODES, node('b'))
    await until('the change', () => changes.length === 1)
    expect(said(changes)).toEqual(['added b'])
  })

  it('when the stream breaks in the middle of a line, which is then told once', async () => {
    const { changes } = await started()
    const [watch] = server.watches
    watch?.send('{"type":"ADDED","object":{"metadata":{"name":"b","res')
    watch?.freeze()
    server.put(NODES, node('b'))
    watch?.end()
    await until('the change', () => changes.length === 1)
    server.put(NODES, node('c'))
    await until('the next change', () => changes.length === 2)
    expect(said(changes)).toEqual(['added b', 'added c'])
  })

  it('when an event of the server is an error other than 410', async () => {
    const { changes } = await started()
    server.watches[0]?.event('ERROR', { kind: 'Status', code: 500, message: 'etcd is away' })
    await until('a second watch', () => count(isWatch) === 2)
    server.put(NODES, node('b'))
    await until('the change', () => changes.length === 1)
    expect(count((request) => request.query.has('sendInitialEvents'))).toBe(1)
  })

  it('when the other side has vanished without a word', async () => {
    const { informer, changes } = await started('served', { watchMs: [150, 150], graceMs: 50 })
    server.watches[0]?.freeze()
    server.put(NODES, node('b'))
    await until('the change', () => changes.length === 1)
    expect(said(changes)).toEqual(['added b'])
    expect(informer.staleMs()).toBeLessThan(1_000)
  })

  it('when a bookmark moved it on past what the server has forgotten', async () => {
    const { changes } = await started()
    server.put(CONFIG_MAPS, { metadata: { name: 'x', namespace: 'default' } })
    server.objects.compact()
    server.watches[0]?.bookmark()
    server.watches[0]?.end()
    await until('a second watch', () => count(isWatch) === 2)
    server.put(NODES, node('b'))
    await until('the change', () => changes.length === 1)
    expect(count((request) => request.query.has('sendInitialEvents'))).toBe(1)
  })
})

describe('what happened while the mirror was blind is told as the difference', () => {
  const missed = () => {
    server.remove(NODES, 'a')
    server.put(NODES, node('b'))
    server.objects.compact()
  }

  it('when the watch is refused with 410', async () => {
    const { informer, changes } = await started()
    server.watches[0]?.freeze()
    missed()
    server.watches[0]?.reset()
    await until('the changes', () => changes.length === 2)
    expect(said(changes)).toEqual(['deleted a', 'added b'])
    expect(informer.list()).toHaveLength(1)
  })

  it('when 410 comes inside the stream', async () => {
    const { changes } = await started('refused')
    server.watches[0]?.freeze()
    missed()
    server.plan(
      { status: 200, body: '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n' },
      isWatch,
    )
    server.watches[0]?.reset()
    await until('the changes', () => changes.length === 2)
    expect(said(changes)).toEqual(['deleted a', 'added b'])
  })

  it('when watches fail again and again without saying 410', async () => {
    const { changes } = await started()
    server.watches[0]?.freeze()
    missed()
    server.plan(refuse(504, 'Timeout', 'Too large resource version'), isWatch, 3)
    server.watches[0]?.reset()
    await until('the changes', () => changes.length === 2)
    expect(said(changes)).toEqual(['deleted a', 'added b'])
  })

  it('and an object of an unchanged version is not told again', async () => {
    const { changes } = await started()
    server.objects.compact()
    server.plan(refuse(410, 'Expired', 'too old'), isWatch)
    server.watches[0]?.end()
    await until(
      'the state was read again',
      () => count((request) => request.query.has('sendInitialEvents')) === 2,
    )
    server.put(NODES, node('c'))
    await until('the change', () => changes.length === 1)
    expect(said(changes)).toEqual(['added c'])
  })
})

describe('requests are spaced', () => {
  it('when the server ends every watch at once', async () => {
    await started('served', { minLifeMs: 100 })
    const ending = server.watches
    const before = count(isWatch)
    const until300ms = systemClock.monotonic() + 300
    await until('300 ms', () => {
      for (const watch of ending) watch.end()
      return systemClock.monotonic() >= until300ms
    })
    expect(count(isWatch) - before).toBeLessThanOrEqual(4)
  })

  it('when everything is answered with 410', async () => {
    server.put(NODES, node('a'))
    const at = () => server.requests.length
    server.watchList = 'refused'
    server.plan(
      refuse(410, 'Expired', 'too old'),
      (request) => isWatch(request) && request.query.has('resourceVersion'),
      999,
    )
    start({ timing: { minLifeMs: 100, backoff: { baseMs: 100, maxMs: 1_000 } } })
    const end = systemClock.monotonic() + 500
    await until('500 ms', () => systemClock.monotonic() >= end)
    expect(at()).toBeLessThanOrEqual(12)
  })
})

describe('staleness', () => {
  it('grows while nothing confirms the mirror, and ends with the next bookmark', async () => {
    const { informer } = await started()
    await until('some staleness', () => informer.staleMs() > 50)
    server.watches[0]?.bookmark()
    await until('fresh', () => informer.staleMs() < 50)
    expect(informer.hasSynced).toBe(true)
  })

  it('is a metric', async () => {
    const values: number[] = []
    const set = (value: number) => void values.push(value)
    const metrics = {
      ...noMetrics,
      gauge: (name: string) => ({
        set: name === 'upgradehub_kube_informer_stale_seconds' ? set : () => undefined,
      }),
    }
    const clock = new FakeClock()
    const informer = start({ metrics, clock })
    await informer.synced()
    await clock.advance(10_000)
    expect(values.at(-1)).toBe(10)
  })
})

describe('stopping', () => {
  it('during the list opens no watch and leaves no connection working', async () => {
    server.watchList = 'refused'
    server.plan('hang', isList)
    const informer = start()
    await until('the list is asked for', () => count(isList) === 1)
    const before = count(isWatch)
    stop.abort()
    await Promise.all(running)
    expect([informer.hasSynced, count(isWatch)]).toEqual([false, before])
  })

  it('during a watch closes it', async () => {
    await started()
    stop.abort()
    await Promise.all(running)
    await until('the watch is closed', () => server.watches.length === 0)
    expect(count(isWatch)).toBe(1)
  })
})

describe('the store', () => {
  it('keeps projections only, and finds them by index through every change', async () => {
    server.put(NODES, { ...node('a'), metadata: { name: 'a', labels: { zone: 'x' } } })
    const informer = start({
      project: (object) => ({ name: object.metadata.name, zone: object.metadata.labels?.['zone'] ?? '' }),
      indexes: { zone: (item) => [item.zone] },
    })
    await informer.synced()
    expect(informer.by('zone', 'x')).toEqual([{ name: 'a', zone: 'x' }])
    server.put(NODES, { ...node('a'), metadata: { name: 'a', labels: { zone: 'y' } } })
    await until('the move', () => informer.by('zone', 'y').length === 1)
    expect(informer.by('zone', 'x')).toEqual([])
    server.remove(NODES, 'a')
    await until('the end', () => informer.size === 0)
    expect(informer.by('zone', 'y')).toEqual([])
  })

  it('leaves out an object that cannot be projected, and lives on', async () => {
    server.put(NODES, node('bad'))
    server.put(NODES, node('good'))
    const informer = start({
      project: (object) => {
        if (object.metadata.name === 'bad') throw new Error('unreadable')
        return object.metadata.name
      },
    })
    await informer.synced()
    expect(informer.list()).toEqual(['good'])
  })

  it('tells every item again on a resync, without a request', async () => {
    const { informer, changes } = await started()
    const requests = server.requests.length
    informer.resync()
    expect([said(changes), server.requests.length]).toEqual([['updated a'], requests])
    expect(changes[0]?.previous).toBe(changes[0]?.item)
  })

  it('survives a listener that throws, and forgets one that left', async () => {
    const { informer, changes } = await started()
    const leave = informer.onChange(() => {
      throw new Error('bad listener')
    })
    server.put(NODES, node('b'))
    await until('the change', () => changes.length === 1)
    leave()
    server.put(NODES, node('c'))
    await until('the next change', () => changes.length === 2)
    expect(informer.size).toBe(3)
  })
})
