import { describe, expect, it } from 'vitest'
import { parseChallenge } from './challenge.ts'

const BEARER = 'Bearer realm="https://auth.example/token",service="r.example",scope="repository:a/b:pull"'
const read = {
  kind: 'bearer',
  realm: 'https://auth.example/token',
  service: 'r.example',
  scope: 'repository:a/b:pull',
}

describe('the header WWW-Authenticate', () => {
  it.each([
    ['a token', BEARER],
    ['a token or a password', `Basic realm="x", ${BEARER}`],
    ['a token in a second header', ['Basic realm="x"', BEARER]],
    ['a token in other letters', BEARER.replace('Bearer', 'bearer')],
  ])('asks for %s', (_, header) => expect(parseChallenge(header)).toEqual(read))

  it('asks for a password', () => expect(parseChallenge('Basic realm="Registry"')).toEqual({ kind: 'basic' }))

  it.each([undefined, '', 'Negotiate', 'Bearer', 'Bearer realm=x', `${BEARER}${' '.repeat(5000)}`])(
    'asks for nothing that is known: %j',
    (header) => expect(parseChallenge(header)).toBeUndefined(),
  )
})
