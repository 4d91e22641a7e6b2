import type { ObjectMeta } from './meta.ts'

/** core/v1 Node, as much of it as the hub reads. */
export interface Node {
  readonly apiVersion: 'v1'
  readonly kind: 'Node'
  readonly metadata: ObjectMeta
  readonly spec?: { readonly unschedulable?: boolean }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly nodeInfo?: {
      readonly kubeletVersion?: string
      readonly architecture?: string
      readonly operatingSystem?: string
      readonly bootID?: string
    }
  }
}
