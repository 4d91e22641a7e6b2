import { HubError } from '@upgrade-hub/core'

export type ProtocolCode =
  | 'PROTOCOL_TOO_BIG'
  | 'PROTOCOL_NOT_JSON'
  | 'PROTOCOL_INVALID'
  | 'PROTOCOL_UNSUPPORTED'

/** A peer sent what it must not: the frame or body is dropped and counted, and the peer is told the code. */
export class ProtocolError extends HubError {
  declare readonly code: ProtocolCode

  constructor(code: ProtocolCode, message: string) {
    super(code, message)
  }
}
