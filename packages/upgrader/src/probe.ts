import { InvariantError } from '@upgrade-hub/core'
import type { Component } from './config.ts'

/** The version that the component's program says it has; empty when it does not answer with one. */
export function probeVersion(_component: Component, _signal?: AbortSignal): Promise<string> {
  throw new InvariantError('not there yet')
}
