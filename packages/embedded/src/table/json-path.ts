import { isArray, isObject, type Json } from '../json.ts'

type Step = (values: readonly Json[]) => readonly Json[]

const FIELD = /^\.?((?:[^.[\]\\]|\\.)+)/
const INDEX = /^\[(-?\d+|\*)\]/
const QUOTED = /^\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/
const FILTER = /^\[\?\(@\.?((?:[^=!<>()\\]|\\.)*?)\s*(?:(==|!=)\s*("[^"]*"|'[^']*'|-?[\d.]+|true|false))?\)\]/

/**
 * The JSONPath of printer columns: fields, escaped dots, `['key']`, indexes, `[*]` and `[?(@.type=="Ready")]`
 * (k8s.io/client-go/util/jsonpath, without scripts and recursion). A path that is none selects nothing.
 */
export function compileJsonPath(path: string): (object: Json) => readonly Json[] {
  const steps: Step[] = []
  let rest = path
    .trim()
    .replace(/^\{(.*)\}$/s, '$1')
    .replace(/^\$/, '')
  while (rest !== '' && rest !== '.') {
    const taken = takeStep(rest)
    if (!taken) return () => []
    steps.push(taken.step)
    rest = rest.slice(taken.length)
  }
  return (object) => steps.reduce((values, step) => step(values), [object] as readonly Json[])
}

function takeStep(text: string): { step: Step; length: number } | undefined {
  const filter = FILTER.exec(text)
  if (filter) return { step: where(filter[1] ?? '', filter[2], filter[3]), length: filter[0].length }
  const quoted = QUOTED.exec(text)
  if (quoted) return { step: field(unescape(quoted[1] ?? quoted[2] ?? '')), length: quoted[0].length }
  const index = INDEX.exec(text)
  if (index) return { step: item(index[1] ?? ''), length: index[0].length }
  const named = FIELD.exec(text)
  if (named) return { step: field(unescape(named[1] ?? '')), length: named[0].length }
  return undefined
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1')
}

function field(name: string): Step {
  return (values) =>
    values.flatMap((value) => {
      if (name === '*' && isObject(value)) return Object.values(value)
      if (!isObject(value) || !Object.hasOwn(value, name)) return []
      return [value[name] ?? null]
    })
}

function item(index: string): Step {
  return (values) =>
    values.flatMap((value) => {
      if (!isArray(value)) return []
      if (index === '*') return value
      const found = value.at(Number(index))
      return found === undefined ? [] : [found]
    })
}

function where(path: string, operator: string | undefined, literal: string | undefined): Step {
  const select = compileJsonPath(path)
  const wanted = literal === undefined ? undefined : literalOf(literal)
  const keep = (entry: Json): boolean => {
    const found = select(entry)[0]
    if (operator === undefined) return found !== undefined
    return (found === wanted) === (operator === '==')
  }
  return (values) => values.flatMap((value) => (isArray(value) ? value.filter(keep) : []))
}

function literalOf(literal: string): Json {
  return /^['"]/.test(literal) ? literal.slice(1, -1) : (JSON.parse(literal) as Json)
}
