import { firstProblem } from '@upgrade-hub/core/schema'
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

/**
 * `value` as the wire type `name`. Keys that this version does not know stay where they are and are not looked at, so
 * that a newer peer can add some.
 * @throws ProtocolError PROTOCOL_INVALID with the path of the first problem, never with the value.
 */
export function validate<N extends ContentName>(name: N, value: unknown): Content<N> {
  const problem = firstProblem(CONTENTS[name], value)
  if (problem) throw new ProtocolError('PROTOCOL_INVALID', `${name}${problem.path} ${problem.message}`)
  return value as Content<N>
}
