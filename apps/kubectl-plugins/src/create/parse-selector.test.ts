import { describe, expect, it } from 'vitest'
import { parseSelector } from './parse-selector.ts'

describe('a selector on the command line', () => {
  it.each([
    ['a=b', { matchLabels: { a: 'b' } }],
    ['a==b, c=d', { matchLabels: { a: 'b', c: 'd' } }],
    ['node-role.kubernetes.io/edge=', { matchLabels: { 'node-role.kubernetes.io/edge': '' } }],
    ['a!=b', { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] }],
    ['a', { matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
    ['!a', { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }],
    [
      'zone in (north, south),tier notin (dev),x=y',
      {
        matchLabels: { x: 'y' },
        matchExpressions: [
          { key: 'zone', operator: 'In', values: ['north', 'south'] },
          { key: 'tier', operator: 'NotIn', values: ['dev'] },
        ],
      },
    ],
    ['a=b,a=c', { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['c'] }] }],
  ])('%s means what it means to kubectl', (text, selector) => {
    expect(parseSelector(text)).toEqual(selector)
  })

  it.each([
    '',
    'a=b,',
    '=b',
    'a in b',
    'a in (b',
    'a=b c',
    'a>1',
    '-a=b',
    'a=$(reboot)',
    `a=${'b'.repeat(64)}`,
  ])('%j is none', (text) => {
    expect(parseSelector(text)).toBeUndefined()
  })
})
