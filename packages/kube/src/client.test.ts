import { silentLogger, systemClock } from '@upgrade-hub/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeClient } from './client.ts'
import { connectTo } from './connect.ts'
import type { KubeError } from './errors.ts'
import { CONFIG_MAPS, LEASES, NODES, type Node } from './resources.ts'
import { FakeApiServer, OTHER_SERVER, refuse, until } from './testing/index.ts'

let server: FakeApiServer
let client: KubeClient

beforeEach(async () => {
  server = await FakeApiServer.start()
  client = connectTo(server.access, { clock: systemClock, log: silentLogger })
})
afterEach(async () => {
  await client.close()
  await server[Symbol.asyncDispose]()
})

const node = (name: string): Node => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })
const failure = (promise: Promise<unknown>): Promise<KubeError> =>
  promise.then(
    () => {
      throw new Error('the call did not fail')
    },
    (error: KubeError) => error,
  )
const tries = (method: string) => server.requests.filter((request) => request.method === method).length

describe('verbs', () => {
  it('creates, reads, changes, replaces and deletes an object, keeping fields it does not know', async () => {
    await client.create(NODES, { ...node('a'), spec: { future: { x: 1 } } } as Node)
    expect(await client.get(NODES, 'a')).toMatchObject({ spec: { future: { x: 1 } } })
    const patched = await client.patch(NODES, 'a', { spec: { unschedulable: true } })
    expect(patched).toMatchObject({ spec: { unschedulable: true, future: { x: 1 } } })
    const replaced = await client.replace(NODES, { ...patched, spec: {} })
    expect(replaced.spec).toEqual({})
    await client.delete(NODES, 'a')
    expect((await failure(client.get(NODES, 'a'))).isNotFound).toBe(true)
  })

  it('reads a list page by page and gives each item its apiVersion and kind', async () => {
    for (const name of ['a', 'b', 'c']) server.put(NODES, node(name))
    const first = await client.list(NODES, { limit: 2 })
    expect(first.items.map((item) => item.metadata.name)).toEqual(['a', 'b'])
    expect(first.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'Node' })
    const second = await client.list(NODES, { limit: 2, continue: first.metadata.continue ?? '' })
    expect(second.items.map((item) => item.metadata.name)).toEqual(['c'])
    expect(second.metadata.continue).toBeUndefined()
  })

  it('tells the server its own time limit, so that no write lands later', async () => {
    await client.create(NODES, node('a'))
    await client.patch(NODES, 'a', {}, { timeoutMs: 1500, fieldManager: 'upgradehub' })
    expect(server.requests.map((request) => request.query.get('timeout'))).toEqual(['5000ms', '1500ms'])
    expect(server.requests[1]?.query.get('fieldManager')).toBe('upgradehub')
  })

  it('stores nothing in a dry run', async () => {
    await client.create(NODES, node('a'), { dryRun: true })
    expect((await failure(client.get(NODES, 'a'))).isNotFound).toBe(true)
  })

  it('refuses to delete without a name, which would delete everything', async () => {
    await expect(client.delete(NODES, '')).rejects.toThrow('no name of an object')
    await expect(client.get(CONFIG_MAPS, 'x')).rejects.toThrow('need a namespace')
    expect(server.requests).toHaveLength(0)
  })

  it('gives text where a path answers no JSON', async () => {
    server.plan({ status: 200, body: 'ok' })
    expect(await client.raw('/readyz')).toBe('ok')
  })
})

describe('refusals', () => {
  it('are typed by what callers branch on', async () => {
    server.put(NODES, node('a'))
    expect((await failure(client.create(NODES, node('a')))).isAlreadyExists).toBe(true)
    const stale = { metadata: { resourceVersion: '1' } }
    const conflict = await failure(client.patch(NODES, 'a', stale))
    expect([conflict.isConflict, conflict.isAlreadyExists, conflict.retry]).toEqual([true, false, 'now'])
    expect((await failure(client.delete(NODES, 'a', { uid: 'other' }))).isConflict).toBe(true)
  })

  it('carry the causes of a validation, with their fields', async () => {
    const causes = [{ reason: 'FieldValueInvalid', message: 'no', field: 'spec.version' }]
    const status = { kind: 'Status', code: 422, reason: 'Invalid', message: 'bad', details: { causes } }
    server.plan({ status: 422, body: status })
    const error = await failure(client.create(NODES, node('a')))
    expect([error.isInvalid, error.reason, error.causes, error.code]).toEqual([
      true,
      'Invalid',
      causes,
      'KUBE_INVALID',
    ])
  })

  it('of a proxy that answers a page of HTML are readable and bounded', async () => {
    server.plan({ status: 403, body: `<html>${'x'.repeat(100_000)}` })
    const error = await failure(client.get(NODES, 'a'))
    expect([error.isForbidden, error.message.length < 1200]).toEqual([true, true])
  })
})

describe('retries', () => {
  it('repeat a read through resets and server faults', async () => {
    server.put(NODES, node('a'))
    server.plan('reset')
    server.plan(refuse(503, 'ServiceUnavailable', 'starting'))
    expect((await client.get(NODES, 'a')).metadata.name).toBe('a')
    expect(tries('GET')).toBe(3)
  })

  it('repeat a write only after 429, or a 503 that names a time', async () => {
    server.plan(refuse(429, 'TooManyRequests', 'slow down', { 'retry-after': '0' }))
    server.plan(refuse(503, 'ServiceUnavailable', 'soon', { 'retry-after': '0' }))
    await client.create(NODES, node('a'))
    expect(tries('POST')).toBe(3)
    server.plan(refuse(503, 'ServiceUnavailable', 'unsaid'))
    expect((await failure(client.patch(NODES, 'a', {}))).status).toBe(503)
    expect(tries('PATCH')).toBe(1)
  })

  it('wait as long as Retry-After says, and give up where that is longer than the call may take', async () => {
    server.plan(refuse(429, 'TooManyRequests', 'slow down', { 'retry-after': '60' }), undefined, 9)
    const error = await failure(client.patch(NODES, 'a', {}, { timeoutMs: 1_000 }))
    expect([error.isTooMany, error.retryAfterMs, tries('PATCH')]).toEqual([true, 60_000, 1])
  })

  it('try a write again that found nobody listening, because it was not sent', async () => {
    const access = { ...server.access, server: 'https://127.0.0.1:1' }
    const lost = connectTo(access, { clock: systemClock, log: silentLogger })
    const error = await failure(lost.create(NODES, node('a'), { maxTries: 2 }))
    expect([error.code, error.isUnknownOutcome]).toEqual(['KUBE_UNREACHABLE', false])
    await lost.close()
  })
})

describe('unknown outcomes', () => {
  it.each([
    ['a reset after the request was sent', () => server.plan('lost')],
    ['a 504', () => server.plan(refuse(504, 'Timeout', 'request did not complete'))],
    ['a 502 of something in between', () => server.plan({ status: 502, body: 'bad gateway' })],
    [
      'a storage that did not answer',
      () => server.plan(refuse(500, 'InternalError', 'etcdserver: request timed out')),
    ],
    ['a success that cannot be read', () => server.plan({ status: 201, body: '{"kind":' })],
  ])('of a write: %s', async (_, plan) => {
    plan()
    const error = await failure(client.create(NODES, node('a')))
    expect([error.code, error.isUnknownOutcome]).toEqual(['KUBE_UNKNOWN_OUTCOME', true])
    expect(tries('POST')).toBe(1)
  })

  it('of a write that was not answered in time', async () => {
    server.plan('hang')
    const error = await failure(client.create(NODES, node('a'), { timeoutMs: 100 }))
    expect([error.isUnknownOutcome, error.message]).toEqual([
      true,
      'POST /api/v1/nodes: no answer within 100 ms',
    ])
  })

  it('are not those of a write that never left, because every connection was busy until its time was over', async () => {
    server.plan('hang', undefined, 16)
    const stop = new AbortController()
    const busy = Array.from({ length: 16 }, () => client.create(NODES, node('a'), { signal: stop.signal }))
    const failures = Promise.allSettled(busy)
    await until('all connections are busy', () => server.requests.length === 16)
    const error = await failure(client.create(NODES, node('b'), { timeoutMs: 50 }))
    expect([error.code, error.isUnknownOutcome]).toEqual(['KUBE_UNREACHABLE', false])
    stop.abort()
    expect(new Set((await failures).map((one) => one.status))).toEqual(new Set(['rejected']))
    await client.create(NODES, node('c'))
    expect(server.objects.list(() => true).map((one) => one.metadata.name)).toEqual(['c'])
  })

  it('do not exist for reads: those just failed', async () => {
    server.plan('hang')
    expect((await failure(client.get(NODES, 'a', { timeoutMs: 100 }))).code).toBe('KUBE_NO_ANSWER')
  })
})

describe('a call', () => {
  it('ends with the reason of its signal', async () => {
    server.plan('hang')
    const stop = new AbortController()
    const call = client.get(NODES, 'a', { signal: stop.signal })
    stop.abort(new Error('shutting down'))
    await expect(call).rejects.toThrow('shutting down')
    await expect(client.get(NODES, 'a', { signal: stop.signal })).rejects.toThrow('shutting down')
  })

  it('refuses an answer that is too long', async () => {
    server.plan({ status: 200, body: 'x'.repeat(65 * 1024 * 1024) })
    expect((await failure(client.get(NODES, 'a'))).code).toBe('KUBE_BAD_ANSWER')
  })

  it('reuses connections: 200 writes need one or two handshakes', async () => {
    server.put(NODES, node('a'))
    for (let i = 0; i < 200; i++) await client.patch(NODES, 'a', { metadata: { labels: { i: String(i) } } })
    expect(server.handshakes).toBeLessThanOrEqual(2)
  })

  it('measures the difference to the clock of the server', async () => {
    expect(client.serverOffsetMs()).toBe(0)
    server.now = () => Date.now() + 60_000
    await client.list(LEASES)
    expect(Math.abs(client.serverOffsetMs() - 60_000)).toBeLessThan(700)
    expect(Math.abs(client.serverNow() - Date.now() - 60_000)).toBeLessThan(700)
  })

  it('does not trust a server of another authority', async () => {
    const access = { ...server.access, ca: { text: OTHER_SERVER.ca } }
    const wary = connectTo(access, { clock: systemClock, log: silentLogger })
    const error = await failure(wary.create(NODES, node('a'), { maxTries: 1 }))
    expect([error.code, server.requests.length]).toEqual(['KUBE_UNREACHABLE', 0])
    await wary.close()
  })
})
