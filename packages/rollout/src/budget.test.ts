import type { TaskStatus } from '@upgrade-hub/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { amountOf } from './amount.ts'
import { fitting, limitsOf } from './budget.ts'
import { JobIndex } from './job-index.ts'
import { jobPlan } from './job-plan.ts'
import { aJob, aNode, aTask, held, NOW, PREPARED, PROCEEDING } from './testing/fixtures.ts'

describe('an amount of nodes', () => {
  it.each([
    [3, 100, 3],
    [0, 100, 0],
    ['10%', 100, 10],
    ['10%', 19, 1],
    ['1%', 20, 1],
    ['100%', 7, 7],
    ['nonsense', 7, 1],
  ] as const)('%s of %i is %i', (amount, total, nodes) => {
    expect(amountOf(amount, total)).toBe(nodes)
  })
})

describe('the limits of a job', () => {
  const limits = (upgradeHub: object, total = 40) =>
    limitsOf(jobPlan(aJob({ concurrency: 3, upgradeHub })), total)

  it('are those of concurrency where nothing else is said', () => {
    expect(limits({})).toEqual({ slots: 3, unavailable: Number.POSITIVE_INFINITY, ahead: 3 })
  })

  it('are those of upgradeHub where it says some', () => {
    expect(limits({ maxConcurrent: '25%', maxUnavailable: '5%', prepareAhead: '50%' })).toEqual({
      slots: 10,
      unavailable: 2,
      ahead: 20,
    })
  })
})

/** n0, n1 … each with a status, and whether its node is up. */
function indexOf(
  nodes: readonly { status?: Partial<TaskStatus>; odd?: object; reason?: string }[],
): JobIndex {
  const index = new JobIndex()
  nodes.forEach(({ status = {}, odd = {}, reason }, order) => {
    const name = `n${order}`
    const task = aTask(status, undefined, name, order)
    const refused = reason ? { ...task, spec: { ...task.spec, verdict: 'Refused' as const, reason } } : task
    const isOurs = status.phase === 'InProgress'
    index.upsert(refused, NOW, isOurs ? held(task, { name, ...odd }) : aNode({ name, ...odd }))
  })
  return index
}

describe('nodes that are down', () => {
  const away = { ready: false }

  it('are those that are not Ready or cordoned by somebody, also when their task has ended', () => {
    const index = indexOf([
      {},
      { odd: away },
      { odd: { unschedulable: true } },
      { status: { phase: 'Failure' }, odd: away },
      { status: PROCEEDING, odd: away },
    ])
    expect(index.nodes.down).toBe(3)
  })

  it('do not count when the job only names them', () => {
    expect(
      indexOf([
        { reason: 'Excluded', odd: away },
        { reason: 'NotEdge', odd: away },
      ]).nodes.down,
    ).toBe(0)
    expect(indexOf([{ reason: 'Offline', odd: away }]).nodes.down).toBe(1)
  })

  it('come and go with what the cluster shows, and with their tasks', () => {
    const index = indexOf([{}, {}])
    expect(index.observe('n1', aNode({ name: 'n1', ready: false }))).toBe(true)
    expect(index.observe('n1', aNode({ name: 'n1', ready: false }))).toBe(false)
    expect(index.observe('stranger', aNode({ name: 'stranger', ready: false }))).toBe(false)
    expect(index.nodes.down).toBe(1)
    index.remove(aTask({}, undefined, 'n1').metadata.name)
    expect(index.nodes.down).toBe(0)
  })
})

describe('what fits', () => {
  const pick = (index: JobIndex, limits: { slots?: number; unavailable?: number }, inProgress = 0) =>
    fitting([...index.in('prepared')], {
      limits: { slots: 10, unavailable: 10, ahead: 1, ...limits },
      inUse: { inProgress, taken: 0, releasing: [] },
      index,
    }).map((entry) => entry.nodeName)

  it('has a slot each, in order', () => {
    const index = indexOf([{ status: PREPARED }, { status: PREPARED }, { status: PREPARED }])
    expect(pick(index, { slots: 3 }, 1)).toEqual(['n0', 'n1'])
  })

  it('leaves room for nodes that are down already, whoever took them down', () => {
    const index = indexOf([{ status: PREPARED }, { status: PREPARED }, { odd: { ready: false } }])
    expect(pick(index, { unavailable: 2 })).toEqual(['n0'])
    expect(pick(index, { unavailable: 1 })).toEqual([])
  })

  it('takes a node that is cordoned already without room: it is not one more', () => {
    const index = indexOf([{ status: PREPARED }, { status: PREPARED, odd: { unschedulable: true } }])
    expect(pick(index, { unavailable: 1 })).toEqual(['n1'])
  })

  it('never takes more nodes down than the job allows', () => {
    const node = fc.constantFrom(
      { status: PREPARED },
      { status: PREPARED, odd: { unschedulable: true } },
      { odd: { ready: false } },
      { status: PROCEEDING },
    )
    const scene = fc.record({
      nodes: fc.array(node, { maxLength: 12 }),
      slots: fc.integer({ min: 1, max: 6 }),
      unavailable: fc.integer({ min: 1, max: 6 }),
    })
    fc.assert(
      fc.property(scene, ({ nodes, slots, unavailable }) => {
        const index = indexOf(nodes)
        const { inProgress } = index.counts
        const picked = pick(index, { slots, unavailable }, inProgress)
        const more = picked.filter((name) => !index.nodes.isDown(name)).length
        expect(Math.max(picked.length && inProgress + picked.length, 0)).toBeLessThanOrEqual(slots)
        if (more > 0) expect(index.nodes.down + inProgress + more).toBeLessThanOrEqual(unavailable)
      }),
    )
  })
})
