import { describe, expect, it } from 'vitest'
import { BUILTIN_RESOURCES } from '../builtin/kinds.ts'
import type { Resource } from '../registry/resource.ts'
import { node } from '../testing/objects.ts'
import { parseFieldSelector } from './field-selector.ts'
import { compileLabelSelector, parseLabelSelector } from './label-selector.ts'

describe('a label selector', () => {
  const labels = { app: 'web', tier: 'front', size: '3', 'example.com/zone': 'a' }

  it.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app!=web', false],
    ['missing!=web', true],
    ['app', true],
    ['!app', false],
    ['!missing', true],
    ['app in (web, api)', true],
    ['app notin (web)', false],
    ['missing notin (web)', true],
    ['size>2', true],
    ['size<2', false],
    ['app=web,tier=back', false],
    ['app = web , tier in (front)', true],
    ['example.com/zone=a', true],
    ['missing=', false],
    ['app in ()', false],
  ])('%s is %s', (text, expected) => {
    expect(parseLabelSelector(text)(labels)).toBe(expected)
  })

  it('selects objects without labels by what they lack', () => {
    expect(parseLabelSelector('!a')(undefined)).toBe(true)
    expect(parseLabelSelector('a')(undefined)).toBe(false)
  })

  it.each(['a(b', 'a b', 'in (', 'a in (b', 'a=b,', '=b', 'a=b c=d', ',', 'a in b'])('refuses %s', (text) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ status: 400 }))
  })

  it('compiles from an object, an unknown operator selecting nothing', () => {
    const selector = {
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['front'] },
        { key: 'gone', operator: 'DoesNotExist' },
      ],
    }
    expect(compileLabelSelector(selector)(labels)).toBe(true)
    expect(compileLabelSelector({})(labels)).toBe(true)
    expect(compileLabelSelector({ matchExpressions: [{ key: 'app', operator: 'Like' }] })(labels)).toBe(false)
  })
})

describe('a field selector', () => {
  const nodes = BUILTIN_RESOURCES.find(({ plural }) => plural === 'nodes') as Resource
  const cordoned = node('a', { spec: { unschedulable: true } })

  it.each([
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a', true],
    ['metadata.name!=a', false],
    ['spec.unschedulable=true', true],
    ['spec.unschedulable=true,metadata.name=b', false],
    ['metadata.namespace=', true],
  ])('%s is %s', (text, expected) => {
    expect(parseFieldSelector(text, nodes).matches(cordoned)).toBe(expected)
  })

  it('knows the one name that can match', () => {
    expect(parseFieldSelector('metadata.name=a\\,b', nodes).name).toBe('a,b')
    expect(parseFieldSelector('metadata.name!=a', nodes).name).toBeUndefined()
  })

  it.each(['spec.podCIDR=x', 'nonsense'])('refuses %s', (text) => {
    expect(() => parseFieldSelector(text, nodes)).toThrow(expect.objectContaining({ status: 400 }))
  })
})
