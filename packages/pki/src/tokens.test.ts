import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { caHash, issueToken, splitToken, verifyToken } from './light.ts'

const signingKey = randomBytes(32)
const caDer = Buffer.from('the DER of a CA')
const now = 1_000_000

function jwt(options: { nodeName?: string; expiresAt?: number } = {}): string {
  return splitToken(issueToken({ caDer, signingKey, id: 't1', expiresAt: now + 60_000, ...options })).jwt
}

function forge(header: object, claims: object): string {
  const body = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${body}.${createHmac('sha256', signingKey).update(body).digest('base64url')}`
}

describe('bootstrap tokens', () => {
  it('carry the hash of the CA and give back their id and node', () => {
    const token = issueToken({ caDer, signingKey, id: 't1', nodeName: 'edge-1', expiresAt: now + 60_000 })
    const parts = splitToken(token)
    expect(parts.caHash).toBe(caHash(caDer))
    expect(token.split('.')).toHaveLength(4)
    expect(verifyToken(parts.jwt, { signingKey, now })).toEqual({ id: 't1', nodeName: 'edge-1' })
    expect(verifyToken(jwt(), { signingKey, now })).toEqual({ id: 't1' })
  })

  it('end at their expiry', () => {
    expect(verifyToken(jwt(), { signingKey, now: now + 59_999 }).id).toBe('t1')
    expect(() => verifyToken(jwt(), { signingKey, now: now + 60_000 })).toThrow('expired')
  })

  it('are refused when signed by another key, changed, of another algorithm, or incomplete', () => {
    const [header, payload, signature] = jwt().split('.')
    const other = Buffer.from('{"jti":"t2","exp":9999999999}').toString('base64url')
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const forged = [
      `${header}.${other}.${signature}`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${header}.${payload}.${signature?.slice(1)}`,
      `${header}.${payload}`,
      '',
      'x'.repeat(5000),
      forge({ alg: 'HS512', typ: 'JWT' }, { jti: 'a', exp: 9_999_999_999 }),
      forge({ alg: 'HS256', typ: 'JWT' }, { exp: 9_999_999_999 }),
      forge({ alg: 'HS256', typ: 'JWT' }, { jti: 'a' }),
      forge({ alg: 'HS256', typ: 'JWT' }, { jti: 'a', exp: 9_999_999_999, node: '../x' }),
    ]
    for (const text of forged) {
      expect(() => verifyToken(text, { signingKey, now })).toThrow(
        expect.objectContaining({ code: 'PKI_TOKEN_INVALID' }),
      )
    }
    expect(() => verifyToken(jwt(), { signingKey: randomBytes(32), now })).toThrow('not valid')
  })

  it('are refused when they do not look like one', () => {
    for (const text of [
      '',
      'a.b.c',
      `${'g'.repeat(64)}.a.b.c`,
      `${'a'.repeat(64)}.a.b`,
      `${'a'.repeat(64)}.a.b.c.d`,
    ]) {
      expect(() => splitToken(text)).toThrow(expect.objectContaining({ code: 'PKI_TOKEN_INVALID' }))
    }
  })
})
