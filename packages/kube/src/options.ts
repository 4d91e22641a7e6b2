/** How a patch body is meant. */
export type PatchType = 'merge' | 'json' | 'strategic' | 'apply'

/** Ends a call early; it then rejects with the signal's reason, and a write may or may not have happened. */
export interface Abortable {
  readonly signal?: AbortSignal
  /** The whole call with its retries, in ms. */
  readonly timeoutMs?: number
  /** Default 4. For callers with a loop of their own: 1. */
  readonly maxTries?: number
}

export interface Placed extends Abortable {
  readonly namespace?: string
}

export interface Selection {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface ListOptions extends Selection, Abortable {
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
}

export interface WatchOptions extends Selection {
  readonly resourceVersion?: string
  /** Ask for the whole state as ADDED events first, closed by a marked bookmark (WatchList). */
  readonly initialEvents?: boolean
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
}

export interface WriteOptions extends Placed {
  readonly dryRun?: boolean
  readonly fieldManager?: string
}

export interface PatchOptions extends WriteOptions {
  readonly subresource?: 'status'
  /** Default `merge`. */
  readonly type?: PatchType
  /** With `apply` only: take over fields of other managers. */
  readonly force?: boolean
}

export interface ReplaceOptions extends WriteOptions {
  readonly subresource?: 'status'
}

export interface DeleteOptions extends Placed {
  readonly uid?: string
  readonly resourceVersion?: string
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
}

export interface RawOptions extends Abortable {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  readonly contentType?: string
}
