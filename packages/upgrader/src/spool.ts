import { InvariantError } from '@upgrade-hub/core'
import type { EdgeConfig } from './config.ts'
import type { Spool } from './types.ts'

/** Opens the result spool of this node under `paths.state`. */
export function openSpool(_config: EdgeConfig): Spool {
  throw new InvariantError('not there yet')
}
