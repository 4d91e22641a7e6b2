import { FakeClock } from '@upgrade-hub/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { at, stringAt } from '../json.ts'
import { TestApi } from '../testing/test-api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

let clock: FakeClock
let api: TestApi

beforeEach(async () => {
  clock = new FakeClock()
  api = await TestApi.start({ clock })
})

afterEach(async () => {
  await api.stop()
})

describe('a watch', () => {
  it('is told every minute how far it is, also when nothing happens to it', async () => {
    const events = api.watch(`${MAPS}?allowWatchBookmarks=true&resourceVersion=0`)
    const first = events.next()
    await api.create(MAPS, { metadata: { name: 'a' } })
    expect((await first).value).toMatchObject({ type: 'ADDED' })
    const node = await api.create('/api/v1/nodes', { metadata: { name: 'elsewhere' } })
    const bookmark = events.next()
    await clock.advance(60_000)
    expect((await bookmark).value).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { resourceVersion: at(node, 'metadata', 'resourceVersion') } },
    })
    await events.return(undefined)
  })

  it('that reads slowly gets all of a large start and nothing twice', async () => {
    const filler = 'x'.repeat(300_000)
    for (let i = 0; i < 80; i++)
      await api.create(MAPS, { metadata: { name: `n-${String(i).padStart(2, '0')}` }, data: { filler } })
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const names: string[] = []
    let writes: Promise<unknown> | undefined
    for await (const event of api.watch(`${MAPS}?${query}`)) {
      writes ??= (async () => {
        for (let i = 80; i < 90; i++) await api.create(MAPS, { metadata: { name: `n-${i}` } })
      })()
      if (names.length % 10 === 0) await writes
      names.push(event['type'] === 'BOOKMARK' ? 'mark' : stringAt(event, 'object', 'metadata', 'name'))
      if (names.length === 91) break
    }
    const expected = Array.from({ length: 90 }, (_, i) => `n-${String(i).padStart(2, '0')}`)
    expect(names).toEqual([...expected.slice(0, 80), 'mark', ...expected.slice(80)])
  })

  it('ends in good order when the server stops', async () => {
    const events = api.watch(`${MAPS}?allowWatchBookmarks=true`)
    const first = events.next()
    await api.create(MAPS, { metadata: { name: 'a' } })
    await first
    const rest: unknown[] = []
    const reading = (async () => {
      for await (const event of events) rest.push(event)
    })()
    await api.stopServer()
    await reading
    expect(rest).toMatchObject([{ type: 'BOOKMARK' }])
  })
})
