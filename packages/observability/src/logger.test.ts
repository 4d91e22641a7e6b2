import { describe, expect, it } from 'vitest'
import { createLogger } from './index.ts'
import { createLightLogger } from './light.ts'

describe.each([
  ['createLogger', createLogger],
  ['createLightLogger', createLightLogger],
])('%s', (_name, create) => {
  function capture(level: 'debug' | 'info' = 'info') {
    const lines: string[] = []
    const log = create({ level, name: 'test', destination: { write: (line) => lines.push(line) } })
    return { log, lines }
  }

  it('writes one JSON object a line with level, time, name, fields and sentence', () => {
    const { log, lines } = capture()
    log.info({ node: 'n1' }, 'the session is open')
    const line = JSON.parse(lines[0] ?? '')
    expect(line).toMatchObject({ level: 'info', name: 'test', node: 'n1', msg: 'the session is open' })
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT/)
  })

  it('leaves out what is below its level', () => {
    const { log, lines } = capture()
    log.debug({}, 'quiet')
    expect(lines).toEqual([])
  })

  it.each([
    ['a field named token', { token: 's3cret' }],
    ['a nested header', { request: { headers: { Authorization: 'Basic s3cret' } } }],
    ['a password in a list', { users: [{ password: 's3cret' }] }],
    [
      'a key in PEM under a plain name',
      { note: '-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----' },
    ],
    ['a bearer credential in a sentence', { note: 'sent Bearer s3cret to it' }],
    ['a suffix such as bootstrapToken', { bootstrapToken: 's3cret' }],
    ['an error and its cause', { err: new Error('no', { cause: new Error('Bearer s3cret') }) }],
    ['a password in a URL', { note: 'by http://user:s3cret@proxy:3128' }],
    ['a bootstrap token in text', { note: `${'a'.repeat(64)}.eyJh.s3cret.s3cret` }],
  ])('hides %s', (_, fields) => {
    const { log, lines } = capture()
    log.info(fields, 'x')
    log.child(fields).info({}, 'x')
    expect(lines).toHaveLength(2)
    expect(lines.join()).not.toContain('s3cret')
    expect(lines[0]).toContain('[redacted]')
  })

  it('hides a secret in the sentence itself', () => {
    const { log, lines } = capture()
    log.info({}, 'answered Bearer s3cret')
    expect(lines.join()).not.toContain('s3cret')
  })

  it('does not hide a name that only sounds like a secret', () => {
    const { log, lines } = capture()
    log.info({ monkey: 'visible', tokens: 3 }, 'x')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ monkey: 'visible', tokens: 3 })
  })

  it('keeps a line bounded whatever it is given', () => {
    const { log, lines } = capture()
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    log.info({ cycle, long: 'x'.repeat(1e6), many: Array.from({ length: 1e5 }, (_, i) => i) }, 'x')
    expect(lines[0]?.length).toBeLessThan(10_000)
  })
})
