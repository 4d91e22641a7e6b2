import { describe, expect, it } from 'vitest'
import { mergePatch } from './merge-patch.ts'

describe('mergePatch', () => {
  it('holds only what changed', () => {
    expect(mergePatch({ a: 1, b: { c: 1, d: 2 }, e: [1] }, { a: 1, b: { c: 1, d: 3 }, e: [1] })).toEqual({
      b: { d: 3 },
    })
  })

  it('removes with null and replaces lists whole', () => {
    expect(mergePatch({ gone: 1, list: [1, 2] }, { list: [1, 2, 3] })).toEqual({
      gone: null,
      list: [1, 2, 3],
    })
  })

  it('is empty for equal objects', () => {
    expect(mergePatch({ a: { b: [1] } }, { a: { b: [1] } })).toEqual({})
  })
})
