import { type Clock, silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeClient } from './client.ts'
import { connectTo } from './connect.ts'
import { LeaderElector } from './leader-elector.ts'
import { LEASES, type Lease } from './resources.ts'
import { FakeApiServer, type FakeRequest, refuse, until } from './testing/index.ts'

let server: FakeApiServer
/** The one time that passes for the server and all replicas. */
let clock: FakeClock
const clients: KubeClient[] = []
const stops: AbortController[] = []
const ends: Promise<void>[] = []

beforeEach(async () => {
  server = await FakeApiServer.start()
  clock = new FakeClock()
  server.now = () => clock.now()
})
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort()
  const ended = Promise.all(ends.splice(0)).then(() => true)
  await until('all have stopped', () => Promise.race([ended, clock.advance(500).then(() => false)]))
  await Promise.all(clients.splice(0).map((client) => client.close()))
  await server[Symbol.asyncDispose]()
})

/** One replica; its wall clock is wrong by `skew.ms`. */
function replica(identity: string, skew = { ms: 0 }) {
  const own: Clock = {
    now: () => clock.now() + skew.ms,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, run) => clock.after(ms, run),
  }
  const client = connectTo(server.access, { clock: own, log: silentLogger })
  const options = { client, namespace: 'hub', name: 'leader', identity, clock: own, log: silentLogger }
  const elector = new LeaderElector(options)
  const stop = new AbortController()
  const terms: { epoch: number; letGo: boolean; signal: AbortSignal; end: () => void }[] = []
  const ended = elector.run(stop.signal, (signal, epoch, letGo) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    terms.push({ epoch, letGo, signal, end: resolve })
    signal.addEventListener('abort', () => resolve(), { once: true })
    return promise
  })
  clients.push(client)
  stops.push(stop)
  ends.push(ended)
  return { elector, stop, terms, ended, skew }
}

/** Lets time pass until the condition holds, slowly: requests are real and need real time. */
const passes = (what: string, condition: () => boolean, stepMs = 50) =>
  until(what, async () => {
    if (condition()) return true
    await clock.advance(stepMs)
    return condition()
  })

const stored = () => server.objects.get(PATH) as Lease | undefined
const PATH = '/apis/coordination.k8s.io/v1/namespaces/hub/leases/leader'
const isWrite = (request: FakeRequest) => request.method === 'PUT' || request.method === 'POST'
const writes = () => server.requests.filter(isWrite).length

describe('a replica', () => {
  it('leads when nobody else does, and renews with times the API server accepts', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    expect(one.terms[0]?.epoch).toBe(1)
    await passes('renewals', () => writes() >= 4)
    expect(stored()?.spec).toMatchObject({
      holderIdentity: 'one',
      leaseTransitions: 1,
      leaseDurationSeconds: 15,
    })
    expect(stored()?.spec?.renewTime).toMatch(/\.\d{6}Z$/)
    expect(one.elector.isLeader()).toBe(true)
  })

  it('lets go when it stops, and the next one leads at once with a higher epoch', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    one.stop.abort()
    await one.ended
    expect([one.elector.isLeader(), stored()?.spec?.holderIdentity]).toEqual([false, undefined])
    const two = replica('two')
    await until('leading', () => two.elector.isLeader())
    expect([one.terms[0]?.letGo, two.terms[0]?.letGo]).toEqual([true, true])
    expect([two.terms[0]?.epoch, clock.monotonic()]).toEqual([2, 0])
  })

  it('takes over a lease only after watching it stand still for its duration, whatever its times say', async () => {
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'leader', namespace: 'hub' },
    }
    const renewTime = '2001-01-01T00:00:00.000000Z'
    const spec = { holderIdentity: 'gone', leaseDurationSeconds: 15, leaseTransitions: 7, renewTime }
    server.put(LEASES, { ...lease, spec } as Lease)
    const one = replica('one')
    await passes('leading', () => one.elector.isLeader())
    expect(clock.monotonic()).toBeGreaterThanOrEqual(15_000)
    expect([one.terms[0]?.epoch, one.terms[0]?.letGo]).toEqual([8, false])
  })

  it('does not take the lease of a former process of its own name without waiting', async () => {
    const first = replica('same')
    await until('leading', () => first.elector.isLeader())
    const second = replica('same')
    await passes('some tries', () => clock.monotonic() >= 10_000, 500)
    expect([second.elector.isLeader(), stored()?.spec?.leaseTransitions]).toEqual([false, 1])
  })

  it('stops leading when it could not renew in time, before anybody else may start', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    server.plan(refuse(500, 'InternalError', 'no storage'), undefined, 9_999)
    await passes('the end of the term', () => one.terms[0]?.signal.aborted === true)
    expect(clock.monotonic()).toBeLessThanOrEqual(12_000)
    expect(one.elector.isLeader()).toBe(false)
  })

  it('knows by its own clock that it leads no more after it was frozen', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    server.plan('hang', undefined, 9_999)
    await clock.advance(10_000)
    expect(one.elector.isLeader()).toBe(false)
  })

  it('ends its term when another one has taken the lease', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    const lease = stored() as Lease
    server.put(LEASES, {
      ...lease,
      spec: { ...lease.spec, holderIdentity: 'two', leaseTransitions: 2 },
    } as Lease)
    await passes('the end of the term', () => one.terms[0]?.signal.aborted === true)
    await until('given up', () => !one.elector.isLeader())
    expect(stored()?.spec?.holderIdentity).toBe('two')
  })

  it('goes on when somebody else only labelled the lease', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    const lease = stored() as Lease
    server.put(LEASES, { ...lease, metadata: { ...lease.metadata, labels: { a: 'b' } } })
    const before = writes()
    await passes('renewals', () => writes() >= before + 3)
    expect([one.terms.length, one.elector.isLeader()]).toEqual([1, true])
  })

  it('goes on when the answer to a renewal was lost', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    server.plan('lost', isWrite)
    const before = writes()
    await passes('renewals', () => writes() >= before + 4)
    expect([one.terms.length, one.elector.isLeader()]).toEqual([1, true])
  })

  it('finds that it leads when only the answer was lost', async () => {
    server.plan('lost', isWrite)
    const one = replica('one')
    await passes('leading', () => one.elector.isLeader())
    expect([one.terms[0]?.epoch, writes(), clock.monotonic() < 10_000]).toEqual([1, 1, true])
  })

  it('does not lead with a clock that is more than five seconds off', async () => {
    const one = replica('one', { ms: 6_500 })
    await passes('some tries', () => clock.monotonic() >= 20_000, 500)
    expect([one.elector.isLeader(), writes()]).toEqual([false, 0])
  })

  it('stops leading when its clock is set wrong', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    one.skew.ms = -20_000
    await passes('the end of the term', () => one.terms[0]?.signal.aborted === true)
    await until('let go', () => stored()?.spec !== undefined && stored()?.spec?.holderIdentity === undefined)
    expect(one.elector.isLeader()).toBe(false)
  })

  it('lets go and tries again when its work ends by itself', async () => {
    const one = replica('one')
    await until('leading', () => one.elector.isLeader())
    one.terms[0]?.end()
    await passes('a second term', () => one.terms.length === 2)
    expect(one.terms[1]?.epoch).toBe(2)
  })
})

describe('two replicas', () => {
  it('never lead at the same time', async () => {
    const [one, two] = [replica('one'), replica('two')]
    await until('one leads', () => one.elector.isLeader() || two.elector.isLeader())
    for (let i = 0; i < 100; i++) {
      await clock.advance(300)
      expect(one.elector.isLeader() && two.elector.isLeader()).toBe(false)
    }
    expect(one.terms.length + two.terms.length).toBeGreaterThanOrEqual(1)
  })
})
