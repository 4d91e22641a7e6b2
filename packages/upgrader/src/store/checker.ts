import { ParseError } from '@upgrade-hub/core'
import { Ajv } from 'ajv'
import type { Static, TSchema } from 'typebox'

const ajv = new Ajv({ strict: true })

/** A function that gives back a value of the schema's type. It throws ParseError for anything else. */
export function checker<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const check = ajv.compile<Static<S>>(schema)
  return (value) => {
    if (check(value)) return value
    const problem = check.errors?.[0]
    throw new ParseError(
      'record',
      JSON.stringify(value) ?? '',
      `${problem?.instancePath ?? ''} ${problem?.message ?? ''}`,
    )
  }
}
