import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeClient } from './client.ts'
import { connectTo } from './connect.ts'
import { type EventDraft, EventRecorder } from './event-recorder.ts'
import type { Event } from './resources.ts'
import { FakeApiServer, refuse, until } from './testing/index.ts'

let server: FakeApiServer
let client: KubeClient
let clock: FakeClock
let recorder: EventRecorder

beforeEach(async () => {
  server = await FakeApiServer.start()
  clock = new FakeClock()
  client = connectTo(server.access, { clock, log: silentLogger })
  recorder = new EventRecorder({
    client,
    reportingController: 'upgradehub.io/hub',
    reportingInstance: 'hub-0',
    clock,
    log: silentLogger,
  })
})
afterEach(async () => {
  await client.close()
  await server[Symbol.asyncDispose]()
})

const regarding = {
  apiVersion: 'operations.kubeedge.io/v1alpha2',
  kind: 'NodeUpgradeJob',
  name: 'job',
  uid: 'u1',
}
const draft = (note: string, more: Partial<EventDraft> = {}): EventDraft => ({
  regarding,
  type: 'Normal',
  reason: 'Planned',
  note,
  ...more,
})
const events = () => server.objects.list((collection) => collection.endsWith('/events')) as unknown as Event[]

describe('the event recorder', () => {
  it('writes a complete event where kubectl looks for it', async () => {
    recorder.record(draft('5 nodes'))
    recorder.record(
      draft('x', { regarding: { ...regarding, namespace: 'here' }, type: 'Warning', action: 'Retry' }),
    )
    await recorder.flush()
    expect(events()).toMatchObject([
      {
        metadata: { namespace: 'default' },
        reportingController: 'upgradehub.io/hub',
        reportingInstance: 'hub-0',
        action: 'Planned',
        reason: 'Planned',
        type: 'Normal',
        note: '5 nodes',
        regarding,
      },
      { metadata: { namespace: 'here' }, type: 'Warning', action: 'Retry' },
    ])
    expect(events()[0]?.eventTime).toMatch(/\.\d{6}Z$/)
  })

  it('counts repeats in one event', async () => {
    recorder.record(draft('again'))
    await recorder.flush()
    for (let i = 0; i < 9; i++) recorder.record(draft('again'))
    await recorder.flush()
    expect(events()).toHaveLength(1)
    expect(events()[0]?.series?.count).toBe(10)
  })

  it('brings a count up to date by itself', async () => {
    recorder.record(draft('again'))
    await recorder.flush()
    recorder.record(draft('again'))
    await clock.advance(10_000)
    await until('the count', () => events()[0]?.series?.count === 2)
    expect(server.requests.map((request) => request.method)).toEqual(['POST', 'PATCH'])
  })

  it('begins a new event when the last one was long ago, or the server has forgotten it', async () => {
    recorder.record(draft('again'))
    await recorder.flush()
    await clock.advance(400_000)
    recorder.record(draft('again'))
    await recorder.flush()
    expect(events()).toHaveLength(2)
    for (const event of events())
      server.objects.delete(`/apis/events.k8s.io/v1/namespaces/default/events/${event.metadata.name}`)
    recorder.record(draft('again'))
    await recorder.flush()
    expect(events()[0]?.series?.count).toBe(2)
  })

  it('cuts a note to what the API server takes', async () => {
    recorder.record(draft('é'.repeat(2_000)))
    await recorder.flush()
    const note = events()[0]?.note ?? ''
    expect([Buffer.byteLength(note) <= 1024, note.endsWith('é…')]).toEqual([true, true])
  })

  it('drops what the API server refuses, and what is too much, without a word to the caller', async () => {
    server.plan(refuse(403, 'Forbidden', 'no events for you'), undefined, 1)
    recorder.record(draft('refused'))
    for (let i = 0; i < 5_000; i++) recorder.record(draft(`many ${i}`))
    let flushed = false
    const flush = recorder.flush().then(() => {
      flushed = true
    })
    await until('the flush', async () => {
      await clock.advance(100)
      return flushed
    })
    await flush
    expect(events().length).toBeGreaterThan(0)
    expect(events().length).toBeLessThanOrEqual(1_000)
    expect(events().some((event) => event.note === 'refused')).toBe(false)
  })

  it('does not hold a stop up when the API server is away', async () => {
    server.plan('hang', undefined, 99)
    recorder.record(draft('lost'))
    const flush = recorder.flush()
    await clock.advance(5_000)
    await flush
    expect(events()).toEqual([])
  })
})
