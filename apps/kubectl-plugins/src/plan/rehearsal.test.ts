import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { aJob, NOW } from '@upgrade-hub/rollout/testing'
import { describe, expect, it } from 'vitest'
import { edgeNode, edgeNodes } from '../testing/nodes.ts'
import { rehearse } from './rehearsal.ts'

const durations = { prepareMs: 20_000, proceedMs: 40_000 }
type Ours = NonNullable<NonNullable<NodeUpgradeJob['spec']>['upgradeHub']>

function rehearsed(upgradeHub: Ours, nodes = edgeNodes(10), spec: NodeUpgradeJob['spec'] = {}) {
  const job = aJob({ nodeNames: nodes.map((node) => node.metadata.name), upgradeHub, ...spec })
  return rehearse(job, { nodes, durations, now: NOW })
}

const seconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms / 1_000))

describe('a rehearsal', () => {
  it('ends as the job would, every node upgraded in its turn', () => {
    const { turns, job, endedAt } = rehearsed({ maxConcurrent: 2 })
    expect(job.status).toMatchObject({ phase: 'Completed', summary: { total: 10, successful: 10 } })
    expect(turns.map(({ takenAt }) => seconds(takenAt))).toEqual([
      20, 20, 60, 60, 100, 100, 140, 140, 180, 180,
    ])
    expect(seconds(endedAt)).toBe(220)
  })

  it('takes no more at a time than the job may', () => {
    const { turns } = rehearsed({ maxConcurrent: '30%' })
    for (const { takenAt = -1 } of turns) {
      const busy = turns.filter((other) => (other.takenAt ?? 0) <= takenAt && takenAt < (other.endedAt ?? 0))
      expect(busy.length).toBeLessThanOrEqual(3)
    }
  })

  it('refuses what the hub refuses, with its reason, and touches none of it', () => {
    const nodes = [
      ...edgeNodes(2),
      edgeNode('at', { version: 'v1.12.0' }),
      edgeNode('away', { ready: false }),
    ]
    const { turns, job } = rehearsed({ exclude: { nodeNames: ['edge-02'] } }, nodes, {
      nodeNames: [...nodes.map((node) => node.metadata.name), 'ghost'],
    })
    expect(Object.fromEntries(turns.map(({ node, refused }) => [node, refused?.reason]))).toEqual({
      'edge-01': undefined,
      'edge-02': 'Excluded',
      at: 'AlreadyAtVersion',
      away: 'Offline',
      ghost: 'NotFound',
    })
    expect(turns.filter(({ takenAt }) => takenAt !== undefined).map(({ node }) => node)).toEqual(['edge-01'])
    expect(job.status).toMatchObject({ phase: 'Failure', summary: { successful: 1, failed: 1, skipped: 3 } })
  })

  it('goes wave by wave, soaks, and takes approvals for given', () => {
    const { turns, endedAt, approved } = rehearsed({
      maxConcurrent: 5,
      waves: [
        { name: 'canary', size: 1, soakSeconds: 86_400 },
        { name: 'some', size: '30%', approval: 'Required' },
      ],
    })
    expect(approved).toEqual(['some'])
    expect(turns.map(({ wave }) => wave)).toEqual([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    const day = 86_400 + 60
    expect(turns.slice(0, 4).map(({ takenAt }) => seconds(takenAt))).toEqual([
      20,
      day + 20,
      day + 20,
      day + 20,
    ])
    expect(seconds(turns[4]?.takenAt)).toBe(day + 60 + 20)
    expect(seconds(endedAt)).toBe(day + 60 + 20 + 40 + 40)
  })

  it('waits for the window', () => {
    const window = { slots: [{ start: '02:00', durationMinutes: 1 }] }
    const { turns } = rehearsed({ maxConcurrent: 4, window })
    const hour = 3_600
    expect(turns.map(({ takenAt }) => seconds(takenAt))).toEqual([
      ...Array<number>(4).fill(2 * hour + 20),
      ...Array<number>(4).fill(26 * hour),
      ...Array<number>(2).fill(26 * hour + 40),
    ])
  })

  it('takes nodes that a job waits for to be back, and says which', () => {
    const { away, job } = rehearsed({ offline: { policy: 'Queue' } }, [
      edgeNode('a'),
      edgeNode('b', { ready: false }),
    ])
    expect(away).toEqual(['b'])
    expect(job.status?.summary?.successful).toBe(2)
  })

  it('takes a node that another upgrade holds to be free at once', () => {
    const hold = JSON.stringify({ task: 't', taskUID: 'u', epoch: 1, previousUnschedulable: false })
    const free = edgeNode('n1')
    const busy = {
      ...free,
      spec: { unschedulable: true },
      metadata: { ...free.metadata, annotations: { 'upgradehub.io/hold': hold } },
    }
    const { away, job } = rehearsed({ maxUnavailable: 1 }, [busy])
    expect(away).toEqual(['n1'])
    expect(job.status?.summary?.successful).toBe(1)
  })

  it('takes nodes to be drained at once', () => {
    const { job, turns } = rehearsed({ isolation: 'Drain', maxConcurrent: 2 }, edgeNodes(2))
    expect(job.status).toMatchObject({ phase: 'Completed', summary: { successful: 2 } })
    expect(turns.map(({ endedAt }) => seconds(endedAt))).toEqual([60, 60])
  })

  it('gives up on what never comes: nodes that are down and leave no room', () => {
    const down = edgeNodes(2).map((node) => ({ ...node, spec: { unschedulable: true } }))
    const { endedAt, job } = rehearsed({ maxUnavailable: 1 }, [...down, ...edgeNodes(3).slice(2)])
    expect(endedAt).toBeUndefined()
    expect(job.status?.conditions?.find(({ type }) => type === 'Progressing')?.reason).toBe(
      'TooManyUnavailable',
    )
  })

  it('takes a node that works for long for what it is, not for silent', () => {
    const job = aJob({ timeoutSeconds: 3_600 })
    const slow = { prepareMs: 3_000_000, proceedMs: 3_000_000 }
    const { job: ended } = rehearse(job, { nodes: [edgeNode('n1')], durations: slow, now: NOW })
    expect(ended.status?.summary?.successful).toBe(1)
  })

  it('takes a thousand nodes', { timeout: 30_000 }, () => {
    const nodes = Array.from({ length: 1_000 }, (_, at) => edgeNode(`n${at}`))
    expect(rehearsed({ maxConcurrent: '1%' }, nodes).job.status?.summary?.successful).toBe(1_000)
  })
})
