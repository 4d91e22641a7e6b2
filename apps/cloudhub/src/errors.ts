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

/** The hub could not start or could not do a command: HUB_PORT_IN_USE, HUB_CRD_NOT_ESTABLISHED, HUB_CA_INVALID. */
export class StartError extends HubError {
  constructor(
    code: 'HUB_PORT_IN_USE' | 'HUB_CRD_NOT_ESTABLISHED' | 'HUB_CA_INVALID',
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

/** The term of leadership is over, so nothing more is written: the next leader decides again from what is stored. */
export class NotLeadingError extends HubError {
  constructor() {
    super('HUB_NOT_LEADING', 'this replica does not lead any more', { retry: 'never' })
  }
}

/** A task of the right name belongs to another owner: it is never taken over. */
export class ForeignTaskError extends HubError {
  constructor(task: string) {
    super('HUB_FOREIGN_TASK', `task ${task} exists and belongs to another owner: delete it`, {
      retry: 'backoff',
    })
  }
}
