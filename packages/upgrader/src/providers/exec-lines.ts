import { messageOf } from '@upgrade-hub/core'
import { Type } from '@upgrade-hub/core/schema'
import type { Static } from 'typebox'
import { StepError } from '../errors.ts'
import { checker } from '../store/checker.ts'

const Path = Type.String({ pattern: '^/[^\\0]*$', maxLength: 4096 })
const Bytes = Type.Integer({ minimum: 0 })
const strict = { additionalProperties: false }

const ExecFile = Type.Object(
  { target: Path, path: Path, sha256: Type.Optional(Type.String({ pattern: '^[a-f0-9]{64}$' })) },
  strict,
)
/** A file that the program has put into the staging folder, and what it is for. */
export type ExecFile = Static<typeof ExecFile>

const Line = Type.Union([
  Type.Object({ progress: Type.Object({ bytes: Bytes, total: Bytes }, strict) }, strict),
  Type.Object({ log: Type.String({ maxLength: 1024 }) }, strict),
  Type.Object({ error: Type.String({ maxLength: 1024 }) }, strict),
  Type.Object({ files: Type.Array(ExecFile, { minItems: 1, maxItems: 17 }) }, strict),
])

const check = checker(Line)

/** One line of an operator's program. @throws StepError for what is none */
export function parseLine(text: string): Static<typeof Line> {
  try {
    return check(JSON.parse(text))
  } catch (error) {
    throw new StepError('PullFailed', `the program wrote a line that is none of ours: ${messageOf(error)}`)
  }
}
