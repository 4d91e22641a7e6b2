import { describe, expect, it } from 'vitest'
import { isEmptySelector, matchesSelector, selectorProblem } from './selector.ts'

const labels = { zone: 'a', edge: '' }
const one = (operator: string, key: string, values?: string[]) => ({
  matchExpressions: [{ key, operator, ...(values ? { values } : {}) }],
})

describe('matchesSelector', () => {
  it.each([
    ['everything for nothing asked', {}, true],
    ['an equal label', { matchLabels: { zone: 'a' } }, true],
    ['an empty value exactly', { matchLabels: { edge: '' } }, true],
    ['no other value', { matchLabels: { zone: 'b' } }, false],
    ['no absent label', { matchLabels: { rack: '' } }, false],
    ['nothing that only an object inherits', { matchLabels: { toString: '' } }, false],
    ['In with the value', one('In', 'zone', ['a', 'b']), true],
    ['In without it', one('In', 'zone', ['b']), false],
    ['NotIn with an absent label', one('NotIn', 'rack', ['b']), true],
    ['NotIn with the value', one('NotIn', 'zone', ['a']), false],
    ['Exists', one('Exists', 'edge'), true],
    ['Exists of an absent label', one('Exists', 'rack'), false],
    ['DoesNotExist of an absent label', one('DoesNotExist', 'rack'), true],
    ['DoesNotExist', one('DoesNotExist', 'zone'), false],
    ['nothing for an operator that nobody knows', one('Gt', 'zone', ['1']), false],
    ['only what meets all', { matchLabels: { zone: 'a' }, ...one('Exists', 'rack') }, false],
  ])('matches %s', (_, selector, expected) => {
    expect(matchesSelector(labels, selector)).toBe(expected)
  })
})

describe('selectorProblem', () => {
  it.each([
    [one('In', 'zone'), 'labelSelector: zone: values must be given with In'],
    [one('Exists', 'zone', ['a']), 'labelSelector: zone: values may not be given with Exists'],
    [one('Gt', 'zone', ['1']), 'labelSelector: zone: Gt is not a selector operator'],
    [one('NotIn', 'zone', ['a']), undefined],
  ])('of %j is %j', (selector, problem) => {
    expect(selectorProblem(selector)).toBe(problem)
  })
})

it('an empty selector is one without any requirement', () => {
  expect(isEmptySelector({ matchLabels: {}, matchExpressions: [] })).toBe(true)
  expect(isEmptySelector(one('Exists', 'a'))).toBe(false)
})
