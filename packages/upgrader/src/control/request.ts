import { join } from 'node:path'
import { Type } from '@upgrade-hub/core/schema'
import type { Static } from 'typebox'
import type { EdgeConfig } from '../config.ts'
import { checker } from '../store/checker.ts'

/** What a person at this node may want of edgehub: one line of JSON over its control socket. */
export const ControlRequest = Type.Object(
  {
    verb: Type.Union((['confirm', 'status', 'hold', 'release'] as const).map((verb) => Type.Literal(verb))),
    /** HistoryID, for `confirm` where several wait. */
    id: Type.Optional(Type.String({ maxLength: 300 })),
    /** For `hold`. */
    reason: Type.Optional(Type.String({ maxLength: 256 })),
  },
  { additionalProperties: false },
)
export interface ControlRequest extends Omit<Static<typeof ControlRequest>, 'verb'> {
  readonly verb: 'confirm' | 'status' | 'hold' | 'release'
}

/** The one line that comes back. */
export interface ControlAnswer {
  /** False when there was nothing to do, or it was not clear what. */
  readonly done: boolean
  /** For people. */
  readonly message: string
  /** For programs. */
  readonly data: Readonly<Record<string, unknown>>
}

/** A request as it was received. @throws ParseError */
export const parseControlRequest = checker(ControlRequest) as (value: unknown) => ControlRequest

/** Where edgehub listens, in a folder that only its owner may enter: that is the whole check of who asks. */
export function controlSocket(config: EdgeConfig): string {
  return join(config.paths.run, 'edgehub.sock')
}
