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

  it('lets what may pass wait, without using an attempt or counting', () => {
    for (const [reason, rule] of Object.entries(REASONS)) {
      if (rule.retryable)
        expect([reason, rule.phase, rule.usesAttempt, rule.counts]).toEqual([
          reason,
          'Pending',
          false,
          'never',
        ])
    }
  })

  it('counts at once exactly what may have touched the node or was tried on it', () => {
    for (const [reason, rule] of Object.entries(REASONS)) {
      if (rule.counts === 'always') expect([reason, rule.usesAttempt]).toEqual([reason, true])
      if (rule.outcome === 'RefusedBeforeChange') expect([reason, rule.counts]).toEqual([reason, 'atEnd'])
    }
  })

  it('knows no word that only an object inherits', () => {
    expect(isReason('toString')).toBe(false)
    expect(isReason(undefined)).toBe(false)
  })
})
