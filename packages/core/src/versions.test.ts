import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalVersion, compareVersions, isVersion, tagForVersion } from './versions.ts'

describe('versions', () => {
  it.each([
    'v1.12.0',
    '1.12.0',
    'v1.12.0-rc.1',
    'v1.0.0-rc1',
    'v01.2.3',
    'v1.2.3-a-b_c',
    '1.0.0+build.5',
    'v1.2.3-beta+exp.sha',
  ])('takes %s, which KubeEdge or SemVer takes', (text) => expect(isVersion(text)).toBe(true))

  it.each([
    '',
    'v1.0',
    'V1.0.0',
    'v1.0.0-',
    'latest',
    'v1.0.0;id',
    'v1.0.0\n',
    '$(id)',
    'v1.0.0 ',
    `v1.0.0-${'a'.repeat(130)}`,
  ])('refuses %j', (text) => expect(isVersion(text)).toBe(false))

  it('compares without regard to a leading v', () => {
    expect(compareVersions('keadm', '1.12.0', 'v1.12.0')).toBe(0)
  })

  it('orders the published example of SemVer 2 section 11', () => {
    const order = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
    ]
    for (const [i, low] of order.entries()) {
      for (const high of order.slice(i + 1)) {
        expect(compareVersions('keadm', low, high), `${low} < ${high}`).toBeLessThan(0)
        expect(compareVersions('keadm', high, low), `${high} > ${low}`).toBeGreaterThan(0)
      }
    }
  })

  it('does not order by build metadata, nor what only equality can compare', () => {
    expect(compareVersions('keadm', 'v1.0.0+a', 'v1.0.0+b')).toBe(0)
    expect(compareVersions('keadm', 'v1.0.0-a_b', 'v1.0.0')).toBeUndefined()
    expect(compareVersions('k0s', 'v1.0.0', 'v1.1.0')).toBeUndefined()
  })

  it('orders numbers that no double can hold', () => {
    expect(compareVersions('keadm', 'v1.0.9007199254740993', 'v1.0.9007199254740992')).toBeGreaterThan(0)
  })

  it('is an order: antisymmetric and transitive', () => {
    const version = fc
      .tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.constantFrom('', '-a', '-1', '-a.1', '-1.a'))
      .map(([a, b, c, pre]) => `v${a}.${b}.${c}${pre}`)
    const sign = (a: string, b: string) => Math.sign(compareVersions('keadm', a, b) ?? Number.NaN)
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        expect(sign(a, b) + sign(b, a)).toBe(0)
        if (sign(a, b) <= 0 && sign(b, c) <= 0) expect(sign(a, c)).toBeLessThanOrEqual(0)
      }),
    )
  })

  it('becomes a tag, where a plus is not allowed', () => {
    expect(tagForVersion('1.2.3+k0s.0')).toBe('v1.2.3-k0s.0')
    expect(() => canonicalVersion('nope')).toThrow(/v1\.12\.0/)
  })
})
