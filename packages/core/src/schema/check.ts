import type { TSchema } from 'typebox'
import { InvariantError } from '../errors.ts'

/** Where a value is not what its schema says, and what it should be there; the value itself is never told. */
export interface Problem {
  /** A JSON pointer, empty for the whole. */
  readonly path: string
  readonly message: string
}

type Schema = Readonly<Record<string, unknown>>
type Problems = Iterable<Problem>
type Keyword = (expected: never, value: unknown, path: string, schema: Schema) => Problems

/**
 * The first problem of a value, or undefined when it is what its schema says. Knows the keywords that `Type` writes and
 * means by them what JSON Schema does. @throws InvariantError for any other keyword
 */
export function firstProblem(schema: TSchema, value: unknown): Problem | undefined {
  const [first] = problemsOf(schema, value)
  return first
}

/** Every problem of a value, found one by one as they are asked for. @throws InvariantError as `firstProblem` */
export function* problemsOf(schema: TSchema, value: unknown): Generator<Problem> {
  yield* problems(schema as Schema, value, '')
}

function* problems(schema: Schema, value: unknown, path: string): Generator<Problem> {
  for (const name of Object.keys(schema)) {
    const keyword = KEYWORDS[name]
    if (!keyword) throw new InvariantError(`a schema has the unknown keyword ${name}`)
    yield* keyword(schema[name] as never, value, path, schema)
  }
}

const nothing = (): Problems => []
const rule =
  <Expected>(
    holds: (expected: Expected, value: unknown) => boolean,
    message: (expected: Expected) => string,
  ) =>
  (expected: Expected, value: unknown, path: string): Problems =>
    holds(expected, value) ? [] : [{ path, message: message(expected) }]

const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: rule(hasType, (type) => `must be ${type}`),
  const: rule(
    (expected, value) => value === expected,
    (expected) => `must be ${JSON.stringify(expected)}`,
  ),
  minimum: rule<number>(
    (min, value) => typeof value !== 'number' || value >= min,
    (min) => `must be >= ${min}`,
  ),
  maximum: rule<number>(
    (max, value) => typeof value !== 'number' || value <= max,
    (max) => `must be <= ${max}`,
  ),
  minLength: rule<number>(
    (min, value) => typeof value !== 'string' || lengthOf(value) >= min,
    (min) => `must not have fewer than ${min} characters`,
  ),
  maxLength: rule<number>(
    (max, value) => typeof value !== 'string' || value.length <= max || lengthOf(value) <= max,
    (max) => `must not have more than ${max} characters`,
  ),
  pattern: rule<string>(
    (pattern, value) => typeof value !== 'string' || regExp(pattern).test(value),
    (pattern) => `must match pattern "${pattern}"`,
  ),
  minItems: rule<number>(
    (min, value) => !Array.isArray(value) || value.length >= min,
    (min) => `must not have fewer than ${min} items`,
  ),
  maxItems: rule<number>(
    (max, value) => !Array.isArray(value) || value.length <= max,
    (max) => `must not have more than ${max} items`,
  ),
  maxProperties: rule<number>(
    (max, value) => !isObject(value) || Object.keys(value).length <= max,
    (max) => `must not have more than ${max} properties`,
  ),
  items: itemProblems,
  required: requiredProblems,
  properties: propertyProblems,
  patternProperties: patternProblems,
  additionalProperties: strangers,
  anyOf: anyOfProblems,
  default: nothing,
}

function hasType(type: string, value: unknown): boolean {
  if (type === 'object') return isObject(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  return type === 'number' ? Number.isFinite(value) : typeof value === type
}

function* itemProblems(items: Schema, value: unknown, path: string): Problems {
  if (!Array.isArray(value)) return
  for (const [at, item] of value.entries()) yield* problems(items, item, `${path}/${at}`)
}

function* requiredProblems(names: readonly string[], value: unknown, path: string): Problems {
  if (!isObject(value)) return
  for (const name of names) {
    if (!has(value, name)) yield { path, message: `must have required property '${name}'` }
  }
}

function* propertyProblems(
  properties: Readonly<Record<string, Schema>>,
  value: unknown,
  path: string,
): Problems {
  if (!isObject(value)) return
  for (const [name, schema] of Object.entries(properties)) {
    if (has(value, name)) yield* problems(schema, value[name], `${path}/${name}`)
  }
}

function* patternProblems(
  patterns: Readonly<Record<string, Schema>>,
  value: unknown,
  path: string,
): Problems {
  if (!isObject(value)) return
  for (const [pattern, schema] of Object.entries(patterns)) {
    const names = Object.keys(value).filter((name) => regExp(pattern).test(name))
    for (const name of names) yield* problems(schema, value[name], `${path}/${name}`)
  }
}

function* strangers(allowed: boolean, value: unknown, path: string, schema: Schema): Problems {
  if (allowed || !isObject(value)) return
  const patterns = Object.keys((schema['patternProperties'] ?? {}) as object)
  const known = (name: string) =>
    Object.hasOwn((schema['properties'] ?? {}) as object, name) ||
    patterns.some((pattern) => regExp(pattern).test(name))
  for (const name of Object.keys(value)) {
    if (!known(name)) yield { path, message: `must not have the property '${name.slice(0, 64)}'` }
  }
}

/** None fits: the problems of the one that is nearest. */
function anyOfProblems(forms: readonly Schema[], value: unknown, path: string): Problems {
  if (forms.every(({ const: word }) => word !== undefined)) {
    const words = forms.map(({ const: word }) => word)
    return words.includes(value) ? [] : [{ path, message: `must be one of ${words.join(', ')}` }]
  }
  const misses = forms.map((form) => [...problems(form, value, path)])
  return misses.toSorted((a, b) => a.length - b.length)[0] ?? []
}

const compiled = new Map<string, RegExp>()
function regExp(pattern: string): RegExp {
  const known = compiled.get(pattern)
  if (known) return known
  const made = new RegExp(pattern, 'u')
  compiled.set(pattern, made)
  return made
}

/** In characters, as JSON Schema counts. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function has(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined
}
