import { describe, expect, it } from 'vitest'
import { restorePatch, takePatch } from './node-patches.ts'
import { aNode, aTask, at, held, time } from './testing/fixtures.ts'

const task = aTask()
const HISTORY = 'nodeupgradejob.operations.kubeedge.io/history'

describe('takePatch', () => {
  it('cordons, marks and counts in one patch of the version that was seen', () => {
    const patch = takePatch(aNode({ epoch: 6 }), task, { cordon: true, now: at(5) })
    expect(patch.spec).toEqual({ unschedulable: true })
    expect(patch.metadata).toMatchObject({ uid: 'n1-uid', resourceVersion: '5' })
    expect(patch.metadata.labels).toEqual({ 'nodeupgradejob.operations.kubeedge.io/status': '' })
    expect(patch.metadata.annotations['upgradehub.io/epoch']).toBe('7')
    expect(JSON.parse(patch.metadata.annotations['upgradehub.io/hold'] ?? '')).toEqual({
      task: task.metadata.name,
      taskUID: task.metadata.uid,
      epoch: 7,
      previousUnschedulable: false,
      takenAt: time(5),
    })
  })

  it('remembers that the node was cordoned before', () => {
    const patch = takePatch(aNode({ unschedulable: true }), task, { cordon: true, now: at(0) })
    expect(patch.metadata.annotations['upgradehub.io/hold']).toContain('"previousUnschedulable":true')
  })

  it('leaves the node open without isolation, and marks it all the same', () => {
    const patch = takePatch(aNode(), task, { cordon: false, now: at(0) })
    expect(patch).not.toHaveProperty('spec')
    expect(patch.metadata.annotations).toHaveProperty(['upgradehub.io/hold'])
  })
})

describe('restorePatch (R18, R19)', () => {
  it.each([
    ['opens a node that we closed', held(task), {}, true],
    ['leaves a node closed that was closed before', held(task, {}, true), {}, false],
    [
      'leaves it closed when a person has closed it anew',
      held(task, { ownsUnschedulable: false }),
      {},
      false,
    ],
    [
      'leaves it open when a person has opened it',
      held(task, { unschedulable: false, ownsUnschedulable: false }),
      {},
      false,
    ],
    ['leaves it closed when a person asks for it', held(task, { keepCordoned: true }), {}, false],
    ['leaves it closed after an end that keeps it so', held(task), { keepCordoned: true }, false],
    [
      'leaves closed what an earlier end of ours kept',
      held(task, { ownsUnschedulable: true }, true),
      {},
      false,
    ],
    [
      'opens what an earlier end of ours kept when the node is good again',
      held(task, { ownsUnschedulable: true }, true),
      { isGood: true },
      true,
    ],
    ['leaves closed what a person had closed, however good', held(task, {}, true), { isGood: true }, false],
  ])('%s', (_, node, options, opens) => {
    const patch = restorePatch(node, options)
    expect(patch.spec).toEqual(opens ? { unschedulable: null } : undefined)
    expect(patch.metadata.annotations['upgradehub.io/hold']).toBeNull()
    expect(patch.metadata.labels).toEqual({ 'nodeupgradejob.operations.kubeedge.io/status': null })
  })

  it.each([
    ['', 'v1.11.0->v1.12.0'],
    ['v1.9.0->v1.10.0;v1.10.0->v1.11.0', 'v1.9.0->v1.10.0;v1.10.0->v1.11.0;v1.11.0->v1.12.0'],
    ['a->b;b->c;c->v1.11.0', 'b->c;c->v1.11.0;v1.11.0->v1.12.0'],
  ])('writes the history after %j, oldest first, the last three', (history, expected) => {
    const patch = restorePatch(held(task, { history }), { upgrade: { from: 'v1.11.0', to: 'v1.12.0' } })
    expect(patch.metadata.annotations[HISTORY]).toBe(expected)
  })

  it('writes no history without an upgrade', () => {
    expect(restorePatch(held(task)).metadata.annotations).not.toHaveProperty([HISTORY])
  })
})
