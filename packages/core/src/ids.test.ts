import { describe, expect, it } from 'vitest'
import { historyId, parseHistoryId, taskName } from './ids.ts'

describe('task names', () => {
  it('are the same for the same job, node and purpose, and differ otherwise', () => {
    const job = { name: 'spring', uid: 'u-1' }
    expect(taskName(job, 'edge-1', 'Upgrade')).toBe(taskName(job, 'edge-1', 'Upgrade'))
    const others = [
      taskName({ ...job, uid: 'u-2' }, 'edge-1', 'Upgrade'),
      taskName(job, 'edge-2', 'Upgrade'),
      taskName(job, 'edge-1', 'RollBack'),
    ]
    expect(new Set([taskName(job, 'edge-1', 'Upgrade'), ...others]).size).toBe(4)
  })

  it('are legal names of objects whatever the job is called', () => {
    for (const name of ['a', 'a.b', `${'x'.repeat(179)}.y`, 'z'.repeat(253)]) {
      expect(taskName({ name, uid: 'u' }, 'n', 'Upgrade')).toMatch(/^[a-z0-9]([a-z0-9.-]{0,199}[a-z0-9])?$/)
    }
  })
})

describe('history ids', () => {
  it('come back as they went', () => {
    expect(parseHistoryId(historyId('a.b-c', 12))).toEqual({ task: 'a.b-c', attempt: 12 })
  })

  it.each(['', 'a', 'a.', '.1', 'a.0', 'a.01', 'A.1', 'a/../b.1', '-a.1', 'a.1\n'])(
    '%j is not one',
    (text) => {
      expect(parseHistoryId(text)).toBeUndefined()
    },
  )
})
