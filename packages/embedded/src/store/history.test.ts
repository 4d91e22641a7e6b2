import { describe, expect, it } from 'vitest'
import { configMap } from '../testing/objects.ts'
import { type Change, History } from './history.ts'

function change(revision: number, more: Partial<Change> = {}): Change {
  const key = `default/${revision}`
  return { revision, type: 'ADDED', resource: 'configmaps', key, object: configMap(key), bytes: 100, ...more }
}

function changes(from: number, to: number): Change[] {
  return Array.from({ length: to - from + 1 }, (_, i) => change(from + i))
}

describe('the history', () => {
  it('gives what came after a revision, of one resource', () => {
    const history = new History(0)
    history.append([change(1), change(2, { resource: 'nodes' }), change(3), change(4)])
    expect(history.since('configmaps', 1)?.map(({ revision }) => revision)).toEqual([3, 4])
    expect(history.since('configmaps', 4)).toEqual([])
  })

  it('knows nothing of what is older than it', () => {
    const history = new History(10)
    expect(history.since('configmaps', 9)).toBeUndefined()
    expect(history.since('configmaps', 10)).toEqual([])
  })

  it('forgets the oldest changes above its number', () => {
    const history = new History(0, { changes: 80, bytes: 1e9 })
    history.append(changes(1, 81))
    expect(history.compacted).toBe(11)
    expect(history.since('configmaps', 10)).toBeUndefined()
    expect(history.since('configmaps', 11)?.length).toBe(70)
  })

  it('forgets the oldest changes above its bytes, be it one that is larger than all', () => {
    const history = new History(0, { changes: 1000, bytes: 1000 })
    history.append(changes(1, 10))
    expect(history.since('configmaps', 0)?.length).toBe(10)
    history.append([change(11, { bytes: 5000 })])
    expect(history.compacted).toBe(11)
  })
})
