import type { Call } from '../http/call.ts'
import type { KubeObject } from '../objects.ts'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/** What admission decides about. Objects are in the version of the request. */
export interface Attributes {
  readonly call: Call
  readonly operation: Operation
  readonly object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly dryRun: boolean
}
