import { HubError, type Retry } from '@upgrade-hub/core'

export type ChannelCode = 'CHANNEL_CONNECT' | 'CHANNEL_REFUSED' | 'CHANNEL_TIMEOUT'

/** A session that could not be opened: network or TLS failed, the hub answered a status, or nothing in time. */
export class ChannelError extends HubError {
  declare readonly code: ChannelCode

  constructor(
    code: ChannelCode,
    message: string,
    options: { retry?: Retry; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(code, message, options)
  }
}
