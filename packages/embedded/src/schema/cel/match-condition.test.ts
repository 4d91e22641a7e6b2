import { describe, expect, it } from 'vitest'
import { compileMatchConditions } from './match-condition.ts'

const NOT_ON_STATUS = "request.operation == 'CREATE' || object.?spec != oldObject.?spec"

function match(expressions: readonly string[], attributes: object) {
  const named = expressions.map((expression, i) => ({ name: `c${i}`, expression }))
  const all = { object: null, oldObject: null, request: {}, ...attributes }
  return compileMatchConditions(named).conditions.matches(all)
}

describe('match conditions', () => {
  it('call on create and on a change of spec only', () => {
    const spec = { nodeNames: ['a'], concurrency: 1 }
    const update = { request: { operation: 'UPDATE' } }
    expect(match([NOT_ON_STATUS], { request: { operation: 'CREATE' }, object: { spec } })).toBe('match')
    expect(
      match([NOT_ON_STATUS], {
        ...update,
        object: { spec },
        oldObject: { spec: { concurrency: 1, nodeNames: ['a'] } },
      }),
    ).toBe('skip')
    expect(match([NOT_ON_STATUS], { ...update, object: { spec }, oldObject: { spec: {} } })).toBe('match')
    expect(match([NOT_ON_STATUS], { ...update, object: {}, oldObject: { spec } })).toBe('match')
    expect(match([NOT_ON_STATUS], { ...update, object: {}, oldObject: {} })).toBe('skip')
  })

  it('skip when one does not hold, even where another cannot be told', () => {
    expect(match(['object.missing == 1', 'false'], { object: {} })).toBe('skip')
  })

  it('say why they cannot be told', () => {
    expect(match(['object.missing == 1', 'true'], { object: {} })).toEqual({
      error: expect.stringContaining('no such key: missing'),
    })
  })

  it('match when there are none', () => {
    expect(match([], {})).toBe('match')
  })

  it('name the one that does not compile', () => {
    const { problems } = compileMatchConditions([{ name: 'bad', expression: 'object ==' }])
    expect(problems.map((p) => p.name)).toEqual(['bad'])
  })
})
