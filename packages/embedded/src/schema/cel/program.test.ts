import { describe, expect, it } from 'vitest'
import type { Json } from '../types.ts'
import { Meter } from './meter.ts'
import { compileProgram, dynamicEnvironment } from './program.ts'
import { dynToCel, optional, toCel } from './values.ts'

function evaluate(expression: string, self: Json = {}, old?: Json): unknown {
  const meter = new Meter()
  const env = dynamicEnvironment({ self: 'dyn', oldSelf: 'optional<dyn>' }, meter)
  const oldSelf = optional(old === undefined ? undefined : dynToCel(old))
  return compileProgram(expression, env, meter).evaluate({ self: dynToCel(self), oldSelf })
}

describe('expressions', () => {
  it.each<[string, Json]>([
    ['self.a + 1 == 2', { a: 1 }],
    ['self.a == 1.0', { a: 1 }],
    ['has(self.a) && !has(self.b)', { a: 1 }],
    ['self.m.all(k, self.m[k] > 0)', { m: { a: 1, b: 2 } }],
    ['self.l.exists_one(i, i == 2) && self.l.filter(i, i > 1).size() == 2', { l: [1, 2, 3] }],
    ["'cpu' in self.l && 'cpu' in self.m", { l: ['cpu'], m: { cpu: 1 } }],
    ['{"b": 1} in self.l', { l: [{ a: 1 }, { b: 1 }] }],
    ["self.s.matches('^v[0-9]+') && matches(self.s, '1')", { s: 'v12' }],
    ["self.?missing.orValue('x') == 'x'", {}],
    ['self.?a == self.?b', {}],
    ['self.?a != self.?b', { a: 1 }],
    [
      "self.s.replace('a', 'b') == 'bb' && self.s.replace('a', 'b', 1) == 'ba' && self.s.charAt(1) == 'a'",
      { s: 'aa' },
    ],
    ['self.l.sum() == 6 && self.l.min() == 1 && self.l.max() == 3 && self.l.isSorted()', { l: [1, 2, 3] }],
    ['self.l.indexOf(2) == 1 && self.l.lastIndexOf(9) == -1', { l: [1, 2, 3] }],
    [
      'sets.contains(self.l, [1]) && sets.intersects(self.l, [3, 9]) && sets.equivalent(self.l, [3, 2, 1, 1])',
      { l: [1, 2, 3] },
    ],
    [
      "duration('1h') > duration('59m') && timestamp('2024-01-02T00:00:00Z') > timestamp('2024-01-01T00:00:00Z')",
      {},
    ],
    ['cel.bind(x, self.a, x == 1)', { a: 1 }],
  ])('%s holds', (expression, self) => {
    expect(evaluate(expression, self)).toBe(true)
  })

  it('compares objects by value, whatever the order of their keys', () => {
    const old = { s: 'x', n: { a: 1, b: [{ c: 2 }] } }
    const self = { n: { b: [{ c: 2 }], a: 1 }, s: 'x' }
    expect(evaluate('self == oldSelf.value()', self, old)).toBe(true)
    expect(evaluate('self == oldSelf.value()', { ...self, s: 'y' }, old)).toBe(false)
  })

  it('compares lists of type set and map without regard to order, atomic ones with it', () => {
    const meter = new Meter()
    const env = dynamicEnvironment({ a: 'dyn', b: 'dyn' }, meter)
    const equal = (a: Json, b: Json, rest: object) => {
      const schema = { type: 'array', ...rest }
      return compileProgram('a == b', env, meter).evaluate({ a: toCel(a, schema), b: toCel(b, schema) })
    }
    expect(
      equal(['x', 'y'], ['y', 'x'], { 'x-kubernetes-list-type': 'set', items: { type: 'string' } }),
    ).toBe(true)
    expect(equal(['x', 'y'], ['y', 'x'], { items: { type: 'string' } })).toBe(false)
    const items = { type: 'object', properties: { k: { type: 'integer' }, v: { type: 'integer' } } }
    const map = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'], items }
    expect(
      equal(
        [
          { k: 1, v: 1 },
          { k: 2, v: 2 },
        ],
        [
          { k: 2, v: 2 },
          { k: 1, v: 1 },
        ],
        map,
      ),
    ).toBe(true)
    expect(
      equal(
        [
          { k: 1, v: 1 },
          { k: 2, v: 2 },
        ],
        [
          { k: 2, v: 2 },
          { k: 1, v: 9 },
        ],
        map,
      ),
    ).toBe(false)
  })

  it('knows whether there is an old value', () => {
    expect(evaluate('oldSelf.hasValue()')).toBe(false)
    expect(evaluate('oldSelf.hasValue() && oldSelf.value().a == self.a', { a: 1 }, { a: 1 })).toBe(true)
  })

  it.each([
    ['self.b == 1', 'no such key: b'],
    ['self.l[3] == 1', 'index out of bounds: 3'],
    ['1 / self.zero == 1', 'division by zero'],
    ["self.zero < 'x'", 'no such overload'],
    ['9223372036854775807 + self.l[0] == 0', 'integer overflow'],
    ["self.s.matches('(')", 'error parsing regexp'],
  ])('%s fails in the words of an API server', (expression, message) => {
    expect(() => evaluate(expression, { l: [1], zero: 0, s: 'x' })).toThrow(message)
  })

  it('is not caught in a pattern that makes a backtracking matcher run for ever', () => {
    expect(evaluate("self.s.matches('^(a+)+$')", { s: `${'a'.repeat(5000)}!` })).toBe(false)
  })

  it('stops loops in loops at its budget, also where an operator would swallow the error', () => {
    const l = Array.from({ length: 200 }, (_, i) => i)
    const loops = 'self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, true))))'
    expect(() => evaluate(loops, { l })).toThrow('actual cost limit exceeded')
    expect(() => evaluate(`${loops} || true`, { l })).toThrow('actual cost limit exceeded')
  })

  it('stops the comparison of huge values at its budget', () => {
    const l = Array.from({ length: 2000 }, (_, i) => [i])
    expect(() => evaluate('self.l.all(a, self.l.exists(b, a == b))', { l })).toThrow(
      'actual cost limit exceeded',
    )
  })

  it('does not parse an expression of endless size', () => {
    expect(() => evaluate(`${'('.repeat(5000)}1${')'.repeat(5000)} == 1`)).toThrow('Exceeded')
    expect(() => evaluate(Array.from({ length: 20_000 }, () => '1').join('+'))).toThrow('Exceeded')
  })
})
