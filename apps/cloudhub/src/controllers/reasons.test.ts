import { EDGE_CODES } from '@upgrade-hub/protocol'
import { isReason, REASONS } from '@upgrade-hub/rollout'
import { describe, expect, it } from 'vitest'

describe('the table of reasons', () => {
  it.each(EDGE_CODES)('has a row for what an edge calls %s', (code) => {
    expect(isReason(code)).toBe(true)
  })

  it('keeps KubeEdge’s sentences', () => {
    expect(REASONS.NotEdge.sentence).toBe('the node is not an edge node')
    expect(REASONS.Offline.sentence).toBe('the node is not ready')
    expect(REASONS.TimedOut.sentence).toBe('The node task has timed out')
  })

  const rows = Object.entries(REASONS)
  it.each(rows.filter(([, rule]) => rule.retryable))(
    'lets %s wait, without using an attempt or counting',
    (_, rule) => {
      expect(rule).toMatchObject({ phase: 'Pending', usesAttempt: false, counts: 'never' })
    },
  )

  it.each(rows.filter(([, rule]) => rule.counts === 'always'))(
    'counts %s at once, and its attempt is spent',
    (_, rule) => {
      expect(rule.usesAttempt).toBe(true)
    },
  )

  it.each(rows.filter(([, rule]) => rule.outcome === 'RefusedBeforeChange'))(
    'counts %s in the final ratio only',
    (_, rule) => {
      expect(rule.counts).toBe('atEnd')
    },
  )

  it('knows no word that only an object inherits', () => {
    expect(isReason('toString')).toBe(false)
    expect(isReason(undefined)).toBe(false)
  })
})
