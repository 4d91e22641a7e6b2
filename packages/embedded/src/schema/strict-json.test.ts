import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonError } from './errors.ts'
import { parseStrictJson } from './strict-json.ts'

describe('parseStrictJson', () => {
  it('reads any JSON as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseStrictJson(text).value).toEqual(JSON.parse(text))
        expect(parseStrictJson(` ${text}\n`).duplicates).toEqual([])
      }),
    )
  })

  it('tells the path of every key that comes again, and the last one wins', () => {
    const text = '{"a":1,"spec":{"b":1,"b":2,"list":[{"c":1},{"c":1,"c":3}]},"a":4}'
    expect(parseStrictJson(text)).toEqual({
      value: { a: 4, spec: { b: 2, list: [{ c: 1 }, { c: 3 }] } },
      duplicates: ['spec.b', 'spec.list[1].c', 'a'],
    })
  })

  it('sees through an escaped key', () => {
    expect(parseStrictJson('{"a":1,"\\u0061":2}').duplicates).toEqual(['a'])
  })

  it.each(['', '{', '{"a":1,}', '[1 2]', '{"a" 1}', 'nul', '01', '"a\nb"', '{"a":1}x', "{'a':1}", '\u00a01'])(
    'refuses %j',
    (text) => {
      expect(() => parseStrictJson(text)).toThrow(JsonError)
    },
  )

  it('refuses what nests too deep instead of running out of stack', () => {
    expect(() => parseStrictJson('['.repeat(100_000))).toThrow(JsonError)
  })
})
