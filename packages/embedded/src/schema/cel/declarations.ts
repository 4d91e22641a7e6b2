import { Environment, type ParseResult } from '@marcbachmann/cel-js'
import { extraSchema } from '../prune.ts'
import type { JsonSchema } from '../types.ts'
import { checkPresenceTests, mentions } from './adapt.ts'
import { escapeName } from './escape.ts'
import { registerLibrary } from './library.ts'
import { Meter } from './meter.ts'
import { EXPRESSION_LIMITS } from './program.ts'
import { asSeen } from './values.ts'

const TEXT_TYPES: Readonly<Record<string, string>> = {
  byte: 'bytes',
  date: 'google.protobuf.Timestamp',
  'date-time': 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
}

/** Declares the objects of a schema as types of one environment, numbered in the order of the walk. */
class Declarations {
  readonly env: Environment
  #count = 0

  constructor() {
    const env = new Environment({ enableOptionalTypes: true, limits: EXPRESSION_LIMITS })
    this.env = registerLibrary(env, new Meter())
  }

  /** The CEL type of a schema; undefined for what no expression can see. */
  declare(schema: JsonSchema): string | undefined {
    if (schema['x-kubernetes-int-or-string']) return 'dyn'
    switch (schema.type) {
      case 'array': {
        const item = schema.items && this.declare(schema.items)
        return item && `list<${item}>`
      }
      case 'object':
        return this.#declareObject(schema)
      case 'string':
        return TEXT_TYPES[schema.format ?? ''] ?? 'string'
      case 'boolean':
        return 'bool'
      case 'number':
        return 'double'
      case 'integer':
        return 'int'
      default:
        return undefined
    }
  }

  #declareObject(schema: JsonSchema): string | undefined {
    const extra = extraSchema(schema)
    if (extra !== undefined) {
      const value = this.declare(extra)
      return value && `map<string, ${value}>`
    }
    const fields: Record<string, string> = {}
    for (const [name, property] of Object.entries(asSeen(schema).properties ?? {})) {
      const type = this.declare(property)
      const field = escapeName(name)
      if (type !== undefined && field !== undefined) fields[field] = type
    }
    const name = `object${this.#count++}`
    this.env.registerType(name, { fields })
    this.env.registerOperator(`${name} == ${name}`, () => false)
    return name
  }
}

/** What is said of an expression: the type or syntax error on one line, if there is one. */
export interface CheckedExpression {
  readonly problem: string | undefined
  readonly usesOldSelf: boolean
}

/** Checks expressions against the types of a schema, as an API server does when a CRD is created. */
export interface ExpressionChecker {
  check(expression: string, expected: 'bool' | 'string', optionalOldSelf: boolean): CheckedExpression
}

const WRONG_RESULT = {
  bool: 'cel expression must evaluate to a bool',
  string: 'messageExpression must evaluate to a string',
}

function parse(env: Environment, expression: string): ParseResult | string {
  try {
    return env.parse(expression)
  } catch (thrown) {
    return thrown instanceof Error ? (thrown.message.split('\n')[0] ?? thrown.message) : String(thrown)
  }
}

function checkExpression(
  env: Environment,
  expression: string,
  expected: 'bool' | 'string',
): CheckedExpression {
  const parsed = parse(env, expression)
  if (typeof parsed === 'string') return { problem: `compilation failed: ${parsed}`, usesOldSelf: false }
  const usesOldSelf = mentions(parsed.ast, 'oldSelf')
  checkPresenceTests(parsed.ast)
  const { type, error } = parsed.check()
  if (error !== undefined) {
    const problem = error.message.split('\n')[0] ?? ''
    return {
      problem: `compilation failed: ${problem.replace(/^No such key: (.*)$/, "undefined field '$1'")}`,
      usesOldSelf,
    }
  }
  const right = type === expected || type === 'dyn'
  return { problem: right ? undefined : WRONG_RESULT[expected], usesOldSelf }
}

/** The checker of the rules of one schema node; undefined where expressions see nothing. */
export function expressionChecker(schema: JsonSchema): ExpressionChecker | undefined {
  const declarations = new Declarations()
  const type = declarations.declare(schema)
  if (type === undefined) return undefined
  const withOldSelf = (oldType: string) =>
    declarations.env.clone().registerVariable('self', type).registerVariable('oldSelf', oldType)
  const plain = withOldSelf(type)
  const optional = withOldSelf(`optional<${type}>`)
  return {
    check: (expression, expected, optionalOldSelf) =>
      checkExpression(optionalOldSelf ? optional : plain, expression, expected),
  }
}
