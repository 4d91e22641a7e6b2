import { HubError, type Retry } from '@upgrade-hub/core'

/** Every way a pull can end badly, and the word of it that travels to the hub. */
const CODES = {
  OCI_ADDRESS_REFUSED: 'PolicyRefused',
  OCI_ARCHIVE_BAD_NAME: 'BadArchive',
  OCI_ARCHIVE_BROKEN: 'BadArchive',
  OCI_ARCHIVE_DUPLICATE: 'BadArchive',
  OCI_ARCHIVE_FILE_MISSING: 'BadArchive',
  OCI_ARCHIVE_FILE_REMOVED: 'BadArchive',
  OCI_ARCHIVE_FILE_TOO_LARGE: 'BadArchive',
  OCI_ARCHIVE_NOT_REGULAR: 'BadArchive',
  OCI_ARCHIVE_TOO_LARGE: 'BadArchive',
  OCI_ARCHIVE_TOO_MANY_ENTRIES: 'BadArchive',
  OCI_CREDENTIALS_REFUSED: 'PullFailed',
  OCI_DEADLINE: 'DownloadTimeout',
  OCI_DIGEST_MISMATCH: 'DigestMismatch',
  OCI_MANIFEST_INVALID: 'BadArchive',
  OCI_NOT_ALLOWED: 'PolicyRefused',
  OCI_NOT_FOUND: 'PullFailed',
  OCI_NO_SPACE: 'NoSpace',
  OCI_REALM_REFUSED: 'PolicyRefused',
  OCI_REDIRECT_REFUSED: 'PullFailed',
  OCI_REFUSED: 'PullFailed',
  OCI_TOO_LONG: 'BadArchive',
  OCI_TOO_SLOW: 'PullFailed',
  OCI_UNREACHABLE: 'PullFailed',
  OCI_UNTRUSTED: 'PullFailed',
  OCI_WRONG_PLATFORM: 'WrongPlatform',
} as const

export type OciCode = keyof typeof CODES

/** What went wrong with a pull, in the words that travel to the hub. */
export type PullCode = (typeof CODES)[OciCode]

interface Options {
  readonly retry?: Retry
  readonly retryAfterMs?: number
  readonly cause?: unknown
}

/** An image that could not be pulled. `retry` says whether the same source may do better in a moment. */
export class OciError extends HubError {
  declare readonly code: OciCode
  readonly edgeCode: PullCode
  /** What the registry asked for by Retry-After. */
  readonly retryAfterMs: number | undefined

  constructor(code: OciCode, message: string, { retryAfterMs, ...options }: Options = {}) {
    super(code, message, options)
    this.edgeCode = CODES[code]
    this.retryAfterMs = retryAfterMs
  }
}
