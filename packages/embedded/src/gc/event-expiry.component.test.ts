import { FakeClock } from '@upgrade-hub/core/testing'
import { expect, it } from 'vitest'
import { TestApi } from '../testing/test-api.ts'

const EVENTS = '/api/v1/namespaces/default/events'
const MINUTE = 60_000

it('events go an hour after they were last told', async () => {
  const clock = new FakeClock()
  const api = await TestApi.start({ clock })
  const event = (name: string) => ({
    metadata: { name },
    involvedObject: { kind: 'Node', name: 'n' },
    reason: 'R',
  })
  await api.create(EVENTS, event('old'))
  await api.create(EVENTS, event('again'))
  await clock.advance(50 * MINUTE)
  const series = { count: 2, lastObservedTime: new Date(clock.now()).toISOString().replace('Z', '000Z') }
  await api.patch(`${EVENTS}/again`, { series })
  await clock.advance(15 * MINUTE)
  expect((await api.call('GET', `${EVENTS}/old`)).status).toBe(404)
  expect((await api.call('GET', `${EVENTS}/again`)).status).toBe(200)
  await clock.advance(60 * MINUTE)
  expect((await api.call('GET', `${EVENTS}/again`)).status).toBe(404)
  await api.stop()
})
