import { type Clock, InvariantError, systemClock } from '@upgrade-hub/core'
import type { EdgeConfig } from './config.ts'
import type { AttemptStore } from './types.ts'

/** Opens the attempts of this node under `paths.state`. */
export function openAttemptStore(_config: EdgeConfig, _clock: Clock = systemClock): AttemptStore {
  throw new InvariantError('not there yet')
}
