import { badRequest } from '../errors.ts'
import { type Json, listAt, objectAt, stringAt, stringsAt, textOf } from '../json.ts'

type Labels = Readonly<Record<string, string>>
export type LabelMatcher = (labels: Labels | undefined) => boolean

const MAX_LENGTH = 16 * 1024
const KEY = '[A-Za-z0-9][-A-Za-z0-9_./]*'
const SET = new RegExp(`^\\s*(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)\\s*(?:,|$)`)
const PAIR = new RegExp(`^\\s*(${KEY})\\s*(==|=|!=|>|<)\\s*([-A-Za-z0-9_.]*)\\s*(?:,|$)`)
const EXISTS = new RegExp(`^\\s*(!?)\\s*(${KEY})\\s*(?:,|$)`)

/** Parses `a=b,c!=d,e in (x,y),!f,g>1`. Throws 400 for what is no selector. */
export function parseLabelSelector(text: string): LabelMatcher {
  if (text.length > MAX_LENGTH) throw badRequest('the label selector is too long')
  const requirements: LabelMatcher[] = []
  let rest = text
  while (rest.trim() !== '') {
    const taken = takeRequirement(rest)
    if (!taken)
      throw badRequest(
        `unable to parse requirement: found '${rest.trim().slice(0, 40)}', expected: ',' or a requirement`,
      )
    requirements.push(taken.matches)
    rest = rest.slice(taken.length)
  }
  return (labels) => requirements.every((matches) => matches(labels))
}

function takeRequirement(text: string): { matches: LabelMatcher; length: number } | undefined {
  const set = SET.exec(text)
  if (set) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim())
    return { matches: inSet(set[1] ?? '', values, set[2] === 'in'), length: set[0].length }
  }
  const pair = PAIR.exec(text)
  if (pair) return { matches: compare(pair[1] ?? '', pair[2] ?? '', pair[3] ?? ''), length: pair[0].length }
  const exists = EXISTS.exec(text)
  if (!exists) return undefined
  const [all, not, key = ''] = exists
  return { matches: (labels) => has(labels, key) === (not === ''), length: all.length }
}

function has(labels: Labels | undefined, key: string): boolean {
  return labels !== undefined && Object.hasOwn(labels, key)
}

function inSet(key: string, values: readonly string[], wanted: boolean): LabelMatcher {
  return (labels) => (has(labels, key) && values.includes(labels?.[key] ?? '')) === wanted
}

function compare(key: string, operator: string, value: string): LabelMatcher {
  if (operator === '>' || operator === '<') {
    return (labels) => {
      const found = has(labels, key) ? Number(labels?.[key]) : Number.NaN
      return operator === '>' ? found > Number(value) : found < Number(value)
    }
  }
  return inSet(key, [value], operator !== '!=')
}

/** A `metav1.LabelSelector`; an empty one selects everything. */
export function compileLabelSelector(selector: Json | undefined): LabelMatcher {
  const pairs = Object.entries(objectAt(selector, 'matchLabels'))
  const requirements = [
    ...pairs.map(([key, value]) => inSet(key, [textOf(value)], true)),
    ...listAt(selector, 'matchExpressions').map(expression),
  ]
  return (labels) => requirements.every((matches) => matches(labels))
}

function expression(requirement: Json): LabelMatcher {
  const key = stringAt(requirement, 'key')
  const values = stringsAt(requirement, 'values')
  switch (stringAt(requirement, 'operator')) {
    case 'In':
      return inSet(key, values, true)
    case 'NotIn':
      return inSet(key, values, false)
    case 'Exists':
      return (labels) => has(labels, key)
    case 'DoesNotExist':
      return (labels) => !has(labels, key)
    default:
      return () => false
  }
}
