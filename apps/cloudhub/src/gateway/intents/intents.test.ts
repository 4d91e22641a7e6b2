import type { NodeUpgradeTask } from '@upgrade-hub/api'
import { silentLogger } from '@upgrade-hub/core'
import { FakeClock } from '@upgrade-hub/core/testing'
import { type Proceed, validate } from '@upgrade-hub/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeTask } from '../../testing/tasks.ts'
import { intentFrame, intentState } from './frames.ts'
import { SessionIntents } from './session-intents.ts'

const at = (seconds: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000).toISOString()
const proceeding = (notAfter = at(120)) =>
  makeTask({ phase: 'InProgress', intent: { seq: 2, verb: 'proceed', epoch: 4, notAfter } })
const answered = (value: string, seq = 1) => ({ edge: { attempt: 1, seq: 0, answer: { seq, value } } })

describe('intentState', () => {
  it.each([
    ['open', makeTask()],
    ['open', makeTask({ intent: { seq: 2, verb: 'cancel' }, ...answered('prepared', 1) })],
    ['accepted', makeTask(answered('accepted'))],
    ['answered', makeTask(answered('prepared'))],
    ['answered', makeTask(answered('refused'))],
    [
      'answered',
      makeTask({ edge: { attempt: 1, seq: 3, results: [{ attempt: 1, outcome: 'RolledBack' }] } }),
    ],
    [
      'open',
      makeTask({
        intent: { seq: 3, verb: 'cancel' },
        edge: { attempt: 1, seq: 3, results: [{ attempt: 1, outcome: 'Succeeded' }] },
      }),
    ],
    [undefined, makeTask({ intent: { seq: 0 } })],
  ] as const)('is %s', (state, task) => {
    expect(intentState(task)).toBe(state)
  })
})

describe('intentFrame', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')

  it('is a prepare that the edge’s validator takes, with everything that is to be done', () => {
    const frame = intentFrame(makeTask(), now)
    expect(frame?.operation).toBe('upgrade')
    expect(validate('Prepare', frame?.content)).toMatchObject({
      HistoryID: 'job-abc.1',
      Task: 'job-abc',
      TaskUID: 'uid-of-job-abc',
      NodeUID: 'node-uid',
      IntentSeq: 1,
      CheckItems: ['cpu', 'disk'],
      Timeouts: { upgradeSeconds: 300 },
      ImageDigest: '',
    })
  })

  it('hands the probes of the task on as they are', () => {
    const probes = [{ httpGet: { port: 10_350, path: '/healthz' }, periodSeconds: 2 }]
    const task = makeTask()
    const frame = intentFrame({ ...task, spec: { ...task.spec, probes } }, now)
    expect(validate('Prepare', frame?.content)).toMatchObject({ Health: { minReadySeconds: 10, probes } })
  })

  it('has the registry that must say the same digest, where the job names one', () => {
    const task = makeTask()
    expect(validate('Prepare', intentFrame(task, now)?.content)).not.toHaveProperty('RegistryAPI')
    const spec = { ...task.spec, registryAPI: { host: 'registry.example:5000', token: 't' } }
    expect(validate('Prepare', intentFrame({ ...task, spec }, now)?.content)).toMatchObject({
      RegistryAPI: { Host: 'registry.example:5000', Token: 't' },
    })
  })

  it('carries a permission as a duration, rounded down', () => {
    const frame = intentFrame(proceeding(), now + 500)
    expect(validate('Proceed', frame?.content)).toMatchObject({
      Epoch: 4,
      ValidForSeconds: 119,
      NodeUID: 'node-uid',
    })
  })

  it.each([
    ['has less than five seconds left', at(4.9)],
    ['has run out', at(-1)],
  ])('only asks when a permission %s', (_, notAfter) => {
    const frame = intentFrame(proceeding(notAfter), now)
    expect(validate('Proceed', frame?.content)).toMatchObject({ ValidForSeconds: 0, Epoch: 4 })
  })

  it.each([
    ['has no end', makeTask({ intent: { seq: 2, verb: 'proceed', epoch: 1 } })],
    ['has an end that is no time', proceeding('soon')],
  ])('is nothing when a permission %s', (_, task) => {
    expect(intentFrame(task, now)).toBeUndefined()
  })

  it('is a cancel that names the attempt', () => {
    const frame = intentFrame(makeTask({ intent: { seq: 2, verb: 'cancel' } }), now)
    expect(validate('TaskRef', frame?.content)).toEqual({
      Task: 'job-abc',
      TaskUID: 'uid-of-job-abc',
      Attempt: 1,
      IntentSeq: 2,
    })
  })
})

describe('SessionIntents', () => {
  let clock: FakeClock
  let sent: { at: number; operation: string; resource: string; content: unknown }[]
  let tasks: Map<string, NodeUpgradeTask>
  let intents: SessionIntents

  beforeEach(() => {
    clock = new FakeClock()
    sent = []
    tasks = new Map()
    intents = new SessionIntents({
      session: {
        nodeName: 'n1',
        send: (operation, resource, content) => {
          sent.push({ at: clock.monotonic(), operation, resource, content })
          return true
        },
      },
      find: (name) => tasks.get(name),
      serverNow: () => clock.now(),
      clock,
      log: silentLogger,
    })
  })

  function stored(task: NodeUpgradeTask): void {
    tasks.set(task.metadata.name, task)
    intents.consider(task)
  }

  it('sends an intent at once and again with back-off until it is answered', async () => {
    stored(makeTask())
    await clock.advance(120_000)
    expect(sent[0]).toMatchObject({ at: 0, operation: 'upgrade', resource: 'upgrade/job/node/n1' })
    expect(sent.length).toBeGreaterThan(4)
    for (const [i, { at }] of sent.slice(1).entries())
      expect(at - (sent[i]?.at ?? 0)).toBeGreaterThanOrEqual(2_000)
    const before = sent.length
    stored(makeTask(answered('prepared')))
    await clock.advance(600_000)
    expect(sent).toHaveLength(before)
  })

  it('does not send again because the task changed in something else', async () => {
    stored(makeTask())
    stored(makeTask({ reason: 'Unreachable' }))
    expect(sent).toHaveLength(1)
  })

  it('sends a newer intent at once and no longer the older one', async () => {
    stored(makeTask())
    stored(makeTask({ intent: { seq: 2, verb: 'cancel' } }))
    await clock.advance(60_000)
    expect(sent.slice(1).map(({ operation }) => operation)).not.toContain('upgrade')
    expect(sent[1]).toMatchObject({ at: 0, operation: 'cancel' })
  })

  it('asks an edge that has acknowledged only once a minute', async () => {
    stored(makeTask())
    intents.acknowledge('job-abc', 1)
    await clock.advance(59_999)
    expect(sent).toHaveLength(1)
    await clock.advance(1)
    expect(sent).toHaveLength(2)
  })

  it('tells the edge what is left of a permission each time, and then asks what became of it', async () => {
    stored(proceeding(at(30)))
    await clock.advance(300_000)
    const validity = sent.map(({ content }) => (content as Proceed).ValidForSeconds)
    expect(validity[0]).toBe(30)
    expect(validity).toEqual(validity.toSorted((a, b) => b - a))
    expect(validity.filter((seconds) => seconds > 0 && seconds < 5)).toEqual([])
    expect(validity.at(-1)).toBe(0)
    stored(makeTask({ ...answered('refused', 2), intent: { seq: 2, verb: 'proceed' } }))
    expect(clock.pending).toBe(0)
  })

  it('lets go of tasks that are over, and of all when the session ends', async () => {
    stored(makeTask({}, 'job-a'))
    stored(makeTask({}, 'job-b'))
    intents.forget('job-a')
    intents.dispose()
    await clock.advance(600_000)
    expect(sent).toHaveLength(2)
    expect(clock.pending).toBe(0)
  })
})
