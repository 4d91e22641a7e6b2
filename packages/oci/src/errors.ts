import { HubError, type Retry } from '@upgrade-hub/core'

/** What went wrong with a pull, in the words that travel to the hub. */
export type PullCode =
  | 'PullFailed'
  | 'DownloadTimeout'
  | 'DigestMismatch'
  | 'BadArchive'
  | 'WrongPlatform'
  | 'PolicyRefused'

/** An image that could not be pulled. Only `PullFailed` is ever tried again within a pull. */
export class OciError extends HubError {
  readonly edgeCode: PullCode
  /** What the registry asked for by Retry-After. */
  readonly retryAfterMs: number | undefined

  constructor(
    edgeCode: PullCode,
    message: string,
    options: { retry?: Retry; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    const { retryAfterMs, ...rest } = options
    super(`OCI_${edgeCode.replace(/(?<=.)[A-Z]/g, '_$&').toUpperCase()}`, message, rest)
    this.edgeCode = edgeCode
    this.retryAfterMs = retryAfterMs
  }
}
