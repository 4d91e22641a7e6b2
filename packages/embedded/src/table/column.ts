import type { Json } from '../json.ts'
import type { KubeObject } from '../objects.ts'

/** One column of a `meta.k8s.io/v1 Table`. Priority 0 is always shown, 1 with `-o wide`. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
  /** `now` in ms since the epoch. */
  readonly cell: (object: KubeObject, now: number) => Json
}
