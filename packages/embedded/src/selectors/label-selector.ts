import { badRequest } from '../errors.ts'
import { type Json, listAt, objectAt, stringAt, stringsAt, textOf } from '../json.ts'
import { type Token, tokenize } from './label-lexer.ts'

type Labels = Readonly<Record<string, string>>
export type LabelMatcher = (labels: Labels | undefined) => boolean

const MAX_LENGTH = 16 * 1024
const SET_OPERATORS = ['in', 'notin']
const VALUE_OPERATORS = ['=', '==', '!=', '>', '<']

/** Parses `a=b,c!=d,e in (x,y),!f,g>1`. Throws 400 for what is no selector, in the words of kube-apiserver. */
export function parseLabelSelector(text: string): LabelMatcher {
  if (text.length > MAX_LENGTH) throw badRequest('the label selector is too long')
  const requirements = new Parser(text).requirements()
  return (labels) => requirements.every((matches) => matches(labels))
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  requirements(): readonly LabelMatcher[] {
    const found: LabelMatcher[] = []
    while (this.#next.kind !== 'end') {
      if (found.length > 0) this.#take(',', "',' or 'end of string'")
      if (this.#next.kind !== 'word' && this.#next.text !== '!') {
        throw this.#unexpected(
          found.length > 0 ? "identifier after ','" : "!, identifier, or 'end of string'",
        )
      }
      found.push(this.#requirement())
    }
    return found
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' }
  }

  #requirement(): LabelMatcher {
    if (this.#next.text === '!') {
      this.#at++
      const key = this.#word('identifier')
      return (labels) => !has(labels, key)
    }
    const key = this.#word('identifier')
    if (this.#next.kind === 'end' || this.#next.text === ',') return (labels) => has(labels, key)
    const operator = this.#next.text
    if (SET_OPERATORS.includes(operator)) {
      this.#at++
      return inSet(key, this.#values(), operator === 'in')
    }
    if (!VALUE_OPERATORS.includes(operator)) throw this.#unexpected('in, notin, =, ==, !=, gt, lt', true)
    this.#at++
    return compare(key, operator, this.#value())
  }

  #value(): string {
    if (this.#next.kind === 'end' || this.#next.text === ',') return ''
    return this.#word('identifier')
  }

  #values(): readonly string[] {
    this.#take('(', "'('")
    const values: string[] = []
    while (this.#next.text !== ')') {
      if (this.#next.text === ',') this.#at++
      else values.push(this.#word("',', ')' or identifier"))
    }
    this.#at++
    return values.length > 0 ? values : ['']
  }

  #word(expected: string): string {
    const { kind, text } = this.#next
    if (kind !== 'word') throw this.#unexpected(expected, true)
    this.#at++
    return text
  }

  #take(symbol: string, expected: string): void {
    if (this.#next.text !== symbol) throw this.#unexpected(expected)
    this.#at++
  }

  #unexpected(expected: string, inRequirement = false) {
    const why = `found '${this.#next.text}', expected: ${expected}`
    return badRequest(inRequirement ? `unable to parse requirement: ${why}` : why)
  }
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
