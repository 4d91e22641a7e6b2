import { HubError, type Retry } from '@upgrade-hub/core'

/**
 * What a request is answered with instead of what it asked for. The code and the message go to the peer, so neither may
 * hold anything it must not know. Codes: see docs/errors.md.
 */
export class HttpError extends HubError {
  readonly status: number
  /** Seconds for the Retry-After header. */
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, code: string, message: string, options: { retryAfterSeconds?: number } = {}) {
    const retry: Retry = status >= 500 || status === 429 ? 'backoff' : 'never'
    super(code, message, { retry })
    this.status = status
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** The hub could not start or could not do a command: HUB_PORT_IN_USE, HUB_CRD_NOT_ESTABLISHED, HUB_CRD_FOREIGN, HUB_CA_INVALID. */
export class StartError extends HubError {
  constructor(
    code: 'HUB_PORT_IN_USE' | 'HUB_CRD_NOT_ESTABLISHED' | 'HUB_CRD_FOREIGN' | 'HUB_CA_INVALID',
    message: string,
    cause?: unknown,
  ) {
    super(code, message, { cause })
  }
}

/** The API server did not keep what was sent, or refuses it against our own rules: the schema there is not ours. */
export class StoreError extends HubError {
  constructor(message: string) {
    super('EDGE_NOT_STORED', message, { retry: 'backoff' })
  }
}
