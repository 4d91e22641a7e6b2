import { Ajv, type ValidateFunction } from 'ajv'
import type { Static } from 'typebox'
import { ProtocolError } from './errors.ts'
import * as schemas from './schemas.ts'

const CONTENTS = {
  Envelope: schemas.Envelope,
  Hello: schemas.Hello,
  Welcome: schemas.Welcome,
  Keepalive: schemas.Keepalive,
  Prepare: schemas.Prepare,
  Proceed: schemas.Proceed,
  TaskRef: schemas.TaskRef,
  Answer: schemas.Answer,
  Progress: schemas.Progress,
  Result: schemas.Result,
  Stored: schemas.Stored,
  GoAway: schemas.GoAway,
  WireError: schemas.WireError,
}
export type ContentName = keyof typeof CONTENTS
export type Content<N extends ContentName> = Static<(typeof CONTENTS)[N]>

const ajv = new Ajv({ strict: true, allErrors: false, coerceTypes: false, removeAdditional: false })
const compiled = new Map<ContentName, ValidateFunction>()

/** Compiled at first use: a process that never sees a kind of frame does not pay for its validator. */
function validator(name: ContentName): ValidateFunction {
  const known = compiled.get(name)
  if (known) return known
  const made = ajv.compile(CONTENTS[name])
  compiled.set(name, made)
  return made
}

/**
 * `value` as the wire type `name`. Keys that this version does not know stay where they are and are not looked at, so
 * that a newer peer can add some.
 * @throws ProtocolError PROTOCOL_INVALID with the path of the first problem, never with the value.
 */
export function validate<N extends ContentName>(name: N, value: unknown): Content<N> {
  const check = validator(name)
  if (check(value)) return value as Content<N>
  const problem = check.errors?.[0]
  throw new ProtocolError(
    'PROTOCOL_INVALID',
    `${name}${problem?.instancePath ?? ''} ${problem?.message ?? 'is not valid'}`,
  )
}
