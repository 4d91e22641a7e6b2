import { ConfigError } from '@upgrade-hub/core'
import { describe, expect, it } from 'vitest'
import { parseDockerConfig } from './docker-config.ts'

const parse = (auths: unknown) => parseDockerConfig(JSON.stringify({ auths }), 'config.json')
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** R28 */
describe('a docker config.json', () => {
  it.each([
    ['a pair in base64', { auth: base64('me:pass:word') }, 'pass:word'],
    ['a pair that an old docker has padded', { auth: base64('me:word\0\0') }, 'word'],
    ['two plain fields', { username: 'me', password: 'word' }, 'word'],
  ])('with %s has a user and a password', (_, entry, password) => {
    const credentials = parse({ 'registry.example:5000': entry })
    expect(credentials.get('registry.example:5000')).toEqual({ kind: 'password', username: 'me', password })
  })

  it('with an identity token has that, whatever else is there', () => {
    const credentials = parse({ 'r.example': { auth: base64('<token>:'), identitytoken: 'it' } })
    expect(credentials.get('r.example')).toEqual({ kind: 'identity', identityToken: 'it' })
  })

  it.each(['https://index.docker.io/v1/', 'index.docker.io', 'docker.io'])('calls docker.io %s', (key) => {
    expect([...parse({ [key]: { username: 'a', password: 'b' } }).keys()]).toEqual(['docker.io'])
  })

  it('that leaves the password to a helper program has none: no program is run', () => {
    const text = JSON.stringify({
      auths: { 'r.example': {} },
      credsStore: 'x',
      credHelpers: { 'r.example': 'x' },
    })
    expect(parseDockerConfig(text, 'config.json').size).toBe(0)
  })

  it.each(['{}', '{"auths":null}', '{"auths":{}}', '[]'])('that is %s has none', (text) => {
    expect(parseDockerConfig(text, 'config.json').size).toBe(0)
  })

  it.each(['s3cret', '{"auths":{"a":{"auth":"s3cret"}}}', 'x'.repeat(300_000)])(
    'that is damaged is a ConfigError which shows nothing of it (%#)',
    (text) => {
      const read = () => parseDockerConfig(text, 'config.json')
      expect(read).toThrow(ConfigError)
      expect(read).not.toThrow(/s3cret/)
    },
  )
})
