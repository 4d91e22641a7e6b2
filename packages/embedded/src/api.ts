import type { Clock, Logger } from '@upgrade-hub/core'
import { rfc3339 } from '@upgrade-hub/core'
import type { Admission } from './admission/admission.ts'
import type { Authenticator } from './http/authenticator.ts'
import type { Registry } from './registry/registry.ts'
import type { World } from './registry/resource.ts'
import type { Store } from './store/store.ts'
import type { WatchHub } from './watch/watch-hub.ts'

/** What every verb works with. */
export interface Api {
  readonly store: Store
  readonly registry: Registry
  readonly watches: WatchHub
  readonly admission: Admission
  readonly authenticator: Authenticator
  readonly clock: Clock
  readonly log: Logger
}

export function worldOf(api: Pick<Api, 'store' | 'clock'>): World {
  return {
    now: rfc3339(api.clock.now()),
    objects: (storage) => api.store.all(storage).values(),
  }
}
