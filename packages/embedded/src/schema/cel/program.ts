import { Environment, EvaluationError } from '@marcbachmann/cel-js'
import { CelError } from '../errors.ts'
import { adapt, mentions } from './adapt.ts'
import { registerLibrary } from './library.ts'
import type { Meter } from './meter.ts'

/** An expression may be this big: enough for a version grammar, far from what would take a second to parse. */
export const EXPRESSION_LIMITS = {
  maxAstNodes: 10_000,
  maxDepth: 100,
  maxListElements: 1000,
  maxMapEntries: 1000,
  maxCallArguments: 32,
}

/** A compiled expression. */
export interface Program {
  readonly source: string
  mentions(variable: string): boolean
  /** The value for the variables. Throws `CelError` in the words of an API server. */
  evaluate(variables: Readonly<Record<string, unknown>>): unknown
}

/** An environment of dynamic variables, which is where expressions run; their types are checked elsewhere. */
export function dynamicEnvironment(variables: Readonly<Record<string, string>>, meter: Meter): Environment {
  const env = new Environment({ enableOptionalTypes: true, limits: EXPRESSION_LIMITS })
  registerLibrary(env, meter)
  for (const [name, type] of Object.entries(variables)) env.registerVariable(name, type)
  return env
}

const WORDS: Readonly<Record<string, (summary: string) => string>> = {
  no_such_key: (summary) => summary.replace('No such key', 'no such key'),
  index_out_of_bounds: (summary) => summary.replace(/^.*index (-?\d+).*$/, 'index out of bounds: $1'),
  no_such_overload: () => 'no such overload',
  no_matching_overload: () => 'no such overload',
  numeric_overflow: () => 'integer overflow',
  division_by_zero: () => 'division by zero',
  modulo_by_zero: () => 'modulus by zero',
  optional_value_missing: () => 'optional.none() dereference',
}

function inKubernetesWords(thrown: unknown): unknown {
  if (!(thrown instanceof EvaluationError)) return thrown
  const words = Object.hasOwn(WORDS, thrown.code) ? WORDS[thrown.code] : undefined
  return new CelError(words === undefined ? thrown.summary : words(thrown.summary))
}

/** Parses an expression. Throws the parser's error for one that is none. */
export function compileProgram(source: string, env: Environment, meter: Meter): Program {
  const parsed = env.parse(source)
  adapt(parsed.ast, meter)
  return {
    source,
    mentions: (variable) => mentions(parsed.ast, variable),
    evaluate(variables) {
      meter.begin()
      try {
        const value: unknown = parsed(variables)
        // An operator may have swallowed the error of an operand that ran out.
        if (meter.overdrawn) meter.charge(0)
        return value
      } catch (thrown) {
        if (meter.overdrawn) meter.charge(0)
        throw inKubernetesWords(thrown)
      }
    },
  }
}
