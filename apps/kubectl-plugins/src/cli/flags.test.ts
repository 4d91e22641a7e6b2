import { describe, expect, it } from 'vitest'
import { UsageError } from '../errors.ts'
import { parseFlags } from './flags.ts'

const parse = (...args: string[]) => parseFlags(args, { count: { type: 'string' }, for: { type: 'string' } })

describe('flags', () => {
  it('are written as kubectl takes them', () => {
    for (const args of [['-o', 'json'], ['-ojson'], ['-o=json'], ['--output=json'], ['--output', 'json']]) {
      expect(parse(...args).flags.text('output')).toBe('json')
    }
  })

  it('may stand before and after a name', () => {
    expect(parse('a', '--context', 'c', 'b').positionals).toEqual(['a', 'b'])
  })

  it.each([
    ['90', 90_000],
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['2h', 7_200_000],
    ['250ms', 250],
  ])('take %s as a duration', (text, ms) => {
    expect(parse('--for', text).flags.duration('for')).toBe(ms)
  })

  it.each(['', 's', '5 m', '-5s', '5d', '1m!'])('refuse %j as a duration', (text) => {
    expect(() => parse(`--for=${text}`).flags.duration('for')).toThrow(UsageError)
  })

  it.each(['1.5', '-1', 'x', '0', '99999999999'])('refuse %s where a count from 1 is wanted', (text) => {
    expect(() => parse(`--count=${text}`).flags.whole('count', 1)).toThrow(UsageError)
  })

  it('that nobody knows are wrong usage', () => {
    expect(() => parse('--frob')).toThrow(UsageError)
  })
})
