import { HubError, type Retry } from '@upgrade-hub/core'

export type JoinCode =
  | 'EDGEADM_JOIN_UNREACHABLE'
  | 'EDGEADM_JOIN_REFUSED'
  | 'EDGEADM_JOIN_WRONG_CA'
  | 'EDGEADM_JOIN_BAD_CERTIFICATE'

/** This node could not get a certificate; nothing but its key may have been written. */
export class JoinError extends HubError {
  declare readonly code: JoinCode

  constructor(code: JoinCode, message: string, options: { retry?: Retry; cause?: unknown } = {}) {
    super(code, message, options)
  }
}
