import { ParseError } from '@upgrade-hub/core'
import { firstProblem } from '@upgrade-hub/core/schema'
import type { Static, TSchema } from 'typebox'

/** A function that gives back a value of the schema's type. It throws ParseError for anything else. */
export function checker<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  return (value) => {
    const problem = firstProblem(schema, value)
    if (!problem) return value as Static<S>
    throw new ParseError('record', JSON.stringify(value) ?? '', `${problem.path} ${problem.message}`)
  }
}
