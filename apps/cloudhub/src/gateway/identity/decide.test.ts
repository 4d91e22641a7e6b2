import type { EdgeIdentitySpec } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { type Application, decideEnrolment, decideHello, mayUse } from './decide.ts'

const stored: EdgeIdentitySpec = { fingerprint: 'aa', machineID: 'm1', token: 't1', notAfter: 'old' }
const times = { notAfter: 'new', now: 'now' }
const byToken = (fingerprint: string, tokenId = 't1'): Application => ({
  applicant: { by: 'token', tokenId },
  fingerprint,
  ...times,
})
const byCertificate = (own: string, fingerprint: string): Application => ({
  applicant: { by: 'certificate', fingerprint: own },
  fingerprint,
  ...times,
})

describe('a join with a token', () => {
  it('makes an identity that waits for its machine', () => {
    expect(decideEnrolment(undefined, byToken('aa'))).toEqual({
      kind: 'create',
      spec: { fingerprint: 'aa', machineID: '', token: 't1', notAfter: 'new', enrolledAt: 'now' },
    })
  })

  it('is refused for a live name with another key, whatever the token', () => {
    expect(decideEnrolment(stored, byToken('bb'))).toEqual({ kind: 'refuse', code: 'ALREADY_ENROLLED' })
  })

  it('may be repeated with the same key', () => {
    expect(decideEnrolment(stored, byToken('aa'))).toMatchObject({
      kind: 'update',
      spec: { machineID: 'm1' },
    })
  })

  it('may be repeated with another key by the same token as long as nobody has connected', () => {
    const unused = { ...stored, machineID: '' }
    expect(decideEnrolment(unused, byToken('bb'))).toMatchObject({
      kind: 'update',
      spec: { fingerprint: 'bb' },
    })
    expect(decideEnrolment(unused, byToken('bb', 't2'))).toMatchObject({ kind: 'refuse' })
  })
})

describe('a renewal with the certificate', () => {
  it('lets the old key stay beside the new one until the new one is used', () => {
    const renewed = decideEnrolment(stored, byCertificate('aa', 'bb'))
    const spec = 'spec' in renewed ? renewed.spec : stored
    expect(spec).toMatchObject({
      fingerprint: 'bb',
      previousFingerprint: 'aa',
      machineID: 'm1',
      notAfter: 'new',
    })
    expect([mayUse(spec, 'aa'), mayUse(spec, 'bb'), mayUse(spec, 'cc'), mayUse(spec, '')]).toEqual([
      true,
      true,
      false,
      false,
    ])
    const used = decideHello(spec, { fingerprint: 'bb', machineID: 'm1' })
    expect('spec' in used && mayUse(used.spec, 'aa')).toBe(false)
  })

  it('may be repeated by the old key when its answer was lost', () => {
    const lost = { ...stored, fingerprint: 'bb', previousFingerprint: 'aa' }
    expect(decideEnrolment(lost, byCertificate('aa', 'cc'))).toMatchObject({
      kind: 'update',
      spec: { fingerprint: 'cc', previousFingerprint: 'aa' },
    })
  })

  it.each([
    ['by a key that was never the node’s', stored],
    ['of a node whose identity was deleted', undefined],
  ])('is refused %s', (_, identity) => {
    expect(decideEnrolment(identity, byCertificate('zz', 'bb'))).toEqual({ kind: 'refuse', code: 'REVOKED' })
  })
})

describe('a hello', () => {
  it('fills in the machine once, and writes nothing from then on', () => {
    const first = decideHello({ ...stored, machineID: '' }, { fingerprint: 'aa', machineID: 'm1' })
    expect(first).toMatchObject({ kind: 'update', spec: { machineID: 'm1' } })
    expect(decideHello(stored, { fingerprint: 'aa', machineID: 'm1' })).toEqual({ kind: 'keep' })
  })

  it('of another machine with the same key is a conflict', () => {
    expect(decideHello(stored, { fingerprint: 'aa', machineID: 'm2' })).toEqual({
      kind: 'refuse',
      code: 'IDENTITY_CONFLICT',
    })
  })

  it('with a key that is gone is revoked', () => {
    expect(decideHello(undefined, { fingerprint: 'aa', machineID: 'm1' })).toMatchObject({ code: 'REVOKED' })
    expect(decideHello(stored, { fingerprint: 'bb', machineID: 'm1' })).toMatchObject({ code: 'REVOKED' })
  })
})
