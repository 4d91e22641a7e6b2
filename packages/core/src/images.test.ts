import { describe, expect, it } from 'vitest'
import { formatImage, imageForVersion, parseImage } from './images.ts'

const DIGEST = `sha256:${'ab'.repeat(32)}`

describe('image references', () => {
  it.each([
    ['kubeedge/installation-package', { registry: 'docker.io', repository: 'kubeedge/installation-package' }],
    ['localhost/a', { registry: 'localhost', repository: 'a' }],
    ['127.0.0.1:5000/a/b:v1', { registry: '127.0.0.1:5000', repository: 'a/b', tag: 'v1' }],
    [
      `registry.example.com/a/b@${DIGEST}`,
      { registry: 'registry.example.com', repository: 'a/b', digest: DIGEST },
    ],
    ['Team/Image', { registry: 'docker.io', repository: 'Team/Image' }],
  ])('reads %s', (text, expected) => expect(parseImage(text)).toEqual(expected))

  it.each([
    '',
    'edgecore',
    '/a',
    'a/',
    'a//b',
    'a/b:',
    `a/b:v1@${DIGEST}`,
    'a/b@sha256:12',
    'a/b;id',
    '[::1]/a',
    'user@host/a',
    '../a',
    'a/..',
  ])('refuses %j', (text) => expect(() => parseImage(text)).toThrow(/image/))

  it('replaces a tag by the version, and lets a digest win', () => {
    expect(formatImage(imageForVersion('a.io/b:old', 'v1.2.3'))).toBe('a.io/b:v1.2.3')
    expect(formatImage(imageForVersion(`a.io/b@${DIGEST}`, 'v1.2.3'))).toBe(`a.io/b@${DIGEST}`)
    expect(formatImage(imageForVersion('a.io/b', '1.2.3+x'))).toBe('a.io/b:v1.2.3-x')
  })
})
