import { describe, expect, it } from 'vitest'
import { listTypeCauses } from './list-types.ts'
import type { JsonSchema } from './types.ts'

const list = (rest: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { l: { type: 'array', ...rest } },
})

describe('listTypeCauses', () => {
  it('tells the second appearance in a set once', () => {
    const schema = list({ 'x-kubernetes-list-type': 'set', items: { type: 'string' } })
    expect(listTypeCauses({ l: ['a', 'b', 'a', 'a'] }, schema)).toEqual([
      { reason: 'FieldValueDuplicate', field: 'l[2]', message: 'Duplicate value: "a"' },
    ])
  })

  it('tells repeated keys of a map list, an absent key being equal to none', () => {
    const schema = list({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['p', 'q'],
      items: { type: 'object' },
    })
    expect(listTypeCauses({ l: [{ p: 1 }, { p: 1, q: 1 }, { p: 1, other: 2 }] }, schema)).toEqual([
      { reason: 'FieldValueDuplicate', field: 'l[2]', message: 'Duplicate value: {"p":1}' },
    ])
  })

  it('lets an atomic list repeat itself', () => {
    expect(listTypeCauses({ l: [1, 1] }, list({ items: { type: 'integer' } }))).toEqual([])
  })

  it('names entries of maps by their keys in brackets', () => {
    const schema: JsonSchema = {
      type: 'object',
      additionalProperties: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } },
    }
    expect(listTypeCauses({ 'a/b': [1, 1] }, schema).map((c) => c.field)).toEqual(['[a/b][1]'])
  })
})
