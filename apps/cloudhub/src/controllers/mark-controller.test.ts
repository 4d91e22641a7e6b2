import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import type { SlimNode } from '@upgrade-hub/rollout'
import { describe, expect, it } from 'vitest'
import { MarkController } from './mark-controller.ts'
import type { Term } from './term.ts'

const NOW = Date.parse('2026-01-01T01:00:00Z')
const LONG_AGO = '2026-01-01T00:00:00Z'
const OWNER = { spec: { jobName: 'job', owner: { uid: 'job-uid' } }, metadata: { name: 't', uid: 't-uid' } }
const JOB = { metadata: { name: 'job', uid: 'job-uid', finalizers: ['upgradehub.io/release'] } }
const FINISHED = { conditions: [{ type: 'Finished', status: 'True' }] }

/** A term in which nothing is open yet, with one node that bears the mark of one task. */
function scene(job: object | undefined, task: Partial<NodeUpgradeTask>) {
  const patched: string[] = []
  const node = { name: 'n1', hold: { task: 't', taskUID: 't-uid' } } as unknown as SlimNode
  const client = {
    get: () => Promise.resolve({ ...OWNER, ...task }),
    patch: (_: unknown, name: string) => {
      patched.push(name)
      return Promise.resolve({ metadata: { name } })
    },
  }
  const term = {
    options: { client },
    node: () => node,
    job: () => job as NodeUpgradeJob,
    open: { get: () => undefined },
    latest: { node: { put: () => undefined } },
    teller: { events: () => undefined },
    now: () => NOW,
    write: (send: (signal: AbortSignal) => unknown) => send(new AbortController().signal),
  }
  return { marks: new MarkController(term as unknown as Term), patched }
}

describe('the mark of a task whose job is not open', () => {
  const taken = { status: { phase: 'Pending' as const, stage: 'Prepare' as const, deadline: LONG_AGO } }

  it('is left alone while a new leader has yet to open the job', async () => {
    const { marks, patched } = scene(JOB, taken)
    expect(await marks.reconcile('n1')).toEqual({ requeueAfterMs: expect.any(Number) })
    expect(patched).toEqual([])
  })

  it.each([
    ['has finished', { ...JOB, status: FINISHED }],
    ['is another of its name', { metadata: { ...JOB.metadata, uid: 'other' } }],
    ['is gone', undefined],
  ])('goes when the job %s and the deadline is over', async (_, job) => {
    const { marks, patched } = scene(job, taken)
    await marks.reconcile('n1')
    expect(patched).toEqual(['n1'])
  })
})
