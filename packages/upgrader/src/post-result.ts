import { InvariantError } from '@upgrade-hub/core'
import type { Result } from '@upgrade-hub/protocol'
import type { EdgeConfig } from './config.ts'
import type { PostOutcome } from './types.ts'

/** Posts a result to `/nodeupgrade` with the node's certificate, once; never throws. */
export function postResult(
  _config: EdgeConfig,
  _result: Result,
  _signal?: AbortSignal,
): Promise<PostOutcome> {
  throw new InvariantError('not there yet')
}
