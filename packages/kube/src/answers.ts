import { messageOf } from '@upgrade-hub/core'
import { type Cause, type KubeCode, KubeError } from './errors.ts'

/** How a failed call is told: writes may have happened, reads may be repeated. */
export type CallKind = 'read' | 'write'

/** A call as errors name it; `title` is like `PATCH /api/v1/nodes/a`. */
export interface CallName {
  readonly kind: CallKind
  readonly title: string
}

const BY_STATUS: Readonly<Record<number, KubeCode>> = {
  400: 'KUBE_BAD_REQUEST',
  401: 'KUBE_UNAUTHORIZED',
  403: 'KUBE_FORBIDDEN',
  404: 'KUBE_NOT_FOUND',
  409: 'KUBE_CONFLICT',
  410: 'KUBE_GONE',
  422: 'KUBE_INVALID',
  429: 'KUBE_TOO_MANY_REQUESTS',
}
/** etcd was asked and did not answer: the API server passes that on as a plain 500. */
const STORAGE_UNKNOWN = /etcdserver: (request timed out|leader changed)/
const MAX_MESSAGE_LENGTH = 1_000

interface Status {
  readonly kind?: string
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: { readonly causes?: readonly Cause[]; readonly retryAfterSeconds?: number }
}

/** The error of an answer that is not 2xx. Pure. */
export function errorOfAnswer(
  call: CallName,
  answer: { status: number; text: string; retryAfter?: string },
): KubeError {
  const status = parseStatus(answer.text)
  const seconds = Number(answer.retryAfter ?? status.details?.retryAfterSeconds ?? Number.NaN)
  const message = status.message ?? answer.text
  return new KubeError(
    codeOf(call.kind, answer.status, status),
    `${call.title}: ${answer.status} ${message.slice(0, MAX_MESSAGE_LENGTH)}`,
    {
      status: answer.status,
      reason: status.reason ?? '',
      causes: status.details?.causes ?? [],
      ...(Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {}),
    },
  )
}

/** The error of a `Status` that came as an ERROR event of a watch. */
export function errorOfEvent(title: string, object: unknown): KubeError {
  const status = (object ?? {}) as Status
  return errorOfAnswer({ kind: 'read', title }, { status: status.code ?? 500, text: JSON.stringify(object) })
}

function codeOf(kind: CallKind, status: number, body: Status): KubeCode {
  if (status === 409 && body.reason === 'AlreadyExists') return 'KUBE_ALREADY_EXISTS'
  if (kind === 'write' && mayHaveHappened(status, body)) return 'KUBE_UNKNOWN_OUTCOME'
  return BY_STATUS[status] ?? (status >= 500 ? 'KUBE_SERVER_FAULT' : 'KUBE_REFUSED')
}

/** 502 and 504 come from something that had passed the request on, or waited for it in vain. */
function mayHaveHappened(status: number, body: Status): boolean {
  if (status === 502 || status === 504) return true
  return status === 500 && (body.reason === 'ServerTimeout' || STORAGE_UNKNOWN.test(body.message ?? ''))
}

function parseStatus(text: string): Status {
  try {
    const body = JSON.parse(text) as Status | null
    return body?.kind === 'Status' ? body : {}
  } catch {
    return {} // A proxy's page: its text is the message.
  }
}

/** The error of a call that got no whole answer. `wasSent`: it may have reached the server. Pure. */
export function errorOfBreak(call: CallName, error: unknown, wasSent: boolean): KubeError {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error
  const code = !wasSent
    ? 'KUBE_UNREACHABLE'
    : call.kind === 'write'
      ? 'KUBE_UNKNOWN_OUTCOME'
      : 'KUBE_NO_ANSWER'
  return new KubeError(code, `${call.title}: ${messageOf(first)}`, { cause: error })
}

/** A 2xx answer that cannot be used: a write behind it has still happened. */
export function badAnswer(call: CallName, what: string, cause?: unknown): KubeError {
  const code = call.kind === 'write' ? 'KUBE_UNKNOWN_OUTCOME' : 'KUBE_BAD_ANSWER'
  return new KubeError(code, `${call.title}: ${what}`, { cause })
}
