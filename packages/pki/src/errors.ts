import { HubError, type Retry } from '@upgrade-hub/core'

export type PkiCode =
  | 'PKI_CA_INVALID'
  | 'PKI_CSR_INVALID'
  | 'PKI_CSR_TOO_BIG'
  | 'PKI_NAME_INVALID'
  | 'PKI_TLS_FILES'
  | 'PKI_TOKEN_EXPIRED'
  | 'PKI_TOKEN_INVALID'

/** A certificate, request, token or key that is not to be trusted. */
export class PkiError extends HubError {
  declare readonly code: PkiCode

  constructor(code: PkiCode, message: string, options: { retry?: Retry; cause?: unknown } = {}) {
    super(code, message, options)
  }
}
