import { HubError, type Retry } from '@upgrade-hub/core'

/** One entry of `Status.details.causes`. */
export interface Cause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** The stable codes of `KubeError`. */
export type KubeCode =
  | 'KUBE_BAD_REQUEST'
  | 'KUBE_UNAUTHORIZED'
  | 'KUBE_FORBIDDEN'
  | 'KUBE_NOT_FOUND'
  | 'KUBE_CONFLICT'
  | 'KUBE_ALREADY_EXISTS'
  | 'KUBE_GONE'
  | 'KUBE_INVALID'
  | 'KUBE_TOO_MANY_REQUESTS'
  | 'KUBE_REFUSED'
  | 'KUBE_SERVER_FAULT'
  /** No connection was made: the request has certainly not reached the server. */
  | 'KUBE_UNREACHABLE'
  /** A read that was not answered in time or whose connection broke. */
  | 'KUBE_NO_ANSWER'
  /** The answer is no JSON, too long, or a broken line of a watch. */
  | 'KUBE_BAD_ANSWER'
  /** A write that may or may not have happened: read back, compare, then decide. */
  | 'KUBE_UNKNOWN_OUTCOME'

const RETRY: Partial<Record<KubeCode, Retry>> = {
  KUBE_CONFLICT: 'now',
  KUBE_UNAUTHORIZED: 'backoff',
  KUBE_TOO_MANY_REQUESTS: 'backoff',
  KUBE_SERVER_FAULT: 'backoff',
  KUBE_UNREACHABLE: 'backoff',
  KUBE_NO_ANSWER: 'backoff',
  KUBE_BAD_ANSWER: 'backoff',
  KUBE_UNKNOWN_OUTCOME: 'backoff',
}

/** What went wrong with one request. `status` is 0 where no answer came, `reason` is the server's (or ''). */
export class KubeError extends HubError {
  readonly status: number
  readonly reason: string
  readonly causes: readonly Cause[]
  readonly retryAfterMs?: number

  constructor(
    code: KubeCode,
    message: string,
    facts: {
      status?: number
      reason?: string
      causes?: readonly Cause[]
      retryAfterMs?: number
      cause?: unknown
    } = {},
  ) {
    super(code, message, { retry: RETRY[code] ?? 'never', cause: facts.cause })
    this.status = facts.status ?? 0
    this.reason = facts.reason ?? ''
    this.causes = facts.causes ?? []
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs
  }

  get isNotFound(): boolean {
    return this.status === 404
  }
  /** The resourceVersion or uid that was sent is not the stored one. */
  get isConflict(): boolean {
    return this.code === 'KUBE_CONFLICT'
  }
  get isAlreadyExists(): boolean {
    return this.code === 'KUBE_ALREADY_EXISTS'
  }
  /** The resourceVersion or continue token is too old: list again. */
  get isGone(): boolean {
    return this.status === 410
  }
  get isInvalid(): boolean {
    return this.status === 422
  }
  get isForbidden(): boolean {
    return this.status === 403
  }
  get isTooMany(): boolean {
    return this.status === 429
  }
  /** The write may have happened (504, reset or timeout after it was sent). */
  get isUnknownOutcome(): boolean {
    return this.code === 'KUBE_UNKNOWN_OUTCOME'
  }
}

/** No credentials could be had: an exec plugin failed, a token file is missing. The message holds no secret. */
export class CredentialError extends HubError {
  constructor(message: string, cause?: unknown) {
    super('KUBE_NO_CREDENTIALS', message, { retry: 'backoff', cause })
  }
}
