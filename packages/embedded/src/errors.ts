import { HubError } from '@upgrade-hub/core'
import type { Cause } from './schema/index.ts'

/** A cause of a `Status`: what is wrong with which field. */
export interface StatusCause {
  readonly reason?: string
  readonly message: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** What names a resource in a status: `nodes`, or `widgets.example.com`. */
export interface Subject {
  readonly group: string
  readonly plural: string
  readonly kind: string
}

/**
 * A refusal that a client sees as a `metav1.Status`, in words and shape as kube-apiserver gives them
 * (k8s.io/apimachinery/pkg/api/errors). `code` is `API_` and the reason.
 */
export class StatusError extends HubError {
  readonly status: number
  readonly reason: string
  readonly statusDetails: StatusDetails | undefined

  constructor(status: number, reason: string, message: string, details?: StatusDetails) {
    super(`API_${reason.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()}`, message)
    this.status = status
    this.reason = reason
    this.statusDetails = details
  }

  /** The body that goes to the client. */
  body(): object {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason ? { reason: this.reason } : {}),
      ...(this.statusDetails ? { details: this.statusDetails } : {}),
      code: this.status,
    }
  }
}

/** The data folder cannot be opened, or a commit failed: nothing more is acknowledged. */
export class StorageError extends HubError {
  constructor(message: string, cause?: unknown) {
    super('EMBEDDED_STORAGE', message, { retry: 'backoff', cause })
  }
}

/** The address cannot be listened on. */
export class ListenError extends HubError {
  constructor(message: string, cause?: unknown) {
    super('EMBEDDED_LISTEN', message, { cause })
  }
}

function qualified(subject: { group: string }, name: string): string {
  return subject.group ? `${name}.${subject.group}` : name
}

function details(subject: Subject, name: string, kind: string): StatusDetails {
  return { ...(name ? { name } : {}), ...(subject.group ? { group: subject.group } : {}), kind }
}

export function notFound(subject: Subject, name: string): StatusError {
  const what = qualified(subject, subject.plural)
  return new StatusError(
    404,
    'NotFound',
    `${what} "${name}" not found`,
    details(subject, name, subject.plural),
  )
}

export function alreadyExists(subject: Subject, name: string): StatusError {
  const what = qualified(subject, subject.plural)
  const message = `${what} "${name}" already exists`
  return new StatusError(409, 'AlreadyExists', message, details(subject, name, subject.plural))
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again'

export function conflict(subject: Subject, name: string, why: string = MODIFIED): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(subject, subject.plural)} "${name}": ${why}`
  return new StatusError(409, 'Conflict', message, details(subject, name, subject.plural))
}

/** The conflict of a delete precondition, which speaks of the kind. */
export function preconditionFailed(subject: Subject, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(subject, subject.kind)} "${name}": ${why}`
  return new StatusError(409, 'Conflict', message, details(subject, name, subject.kind))
}

/** 422 with every problem; `as` names what is invalid where that is not the kind. */
export function invalid(
  subject: Subject,
  name: string,
  causes: readonly Cause[],
  as = subject.kind,
): StatusError {
  const texts = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))]
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const message = `${qualified(subject, as)} "${name}" is invalid: ${list}`
  return new StatusError(422, 'Invalid', message, { ...details(subject, name, as), causes })
}

/** 422 for a bad query parameter of a request. */
export function invalidOptions(kind: string, causes: readonly Cause[]): StatusError {
  return invalid({ group: 'meta.k8s.io', plural: kind, kind }, '', causes)
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message)
}

export function forbidden(subject: Subject, name: string, why: string): StatusError {
  const message = `${qualified(subject, subject.plural)} "${name}" is forbidden: ${why}`
  return new StatusError(403, 'Forbidden', message, details(subject, name, subject.plural))
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource'
  return new StatusError(405, 'MethodNotAllowed', message, {})
}

export function resourceNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return new StatusError(415, 'UnsupportedMediaType', message)
}

export function expired(message: string): StatusError {
  return new StatusError(410, 'Expired', message)
}

export function tooLarge(message: string): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', message)
}

export function tooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds })
}

export function internalError(message: string): StatusError {
  const details = { causes: [{ message }] }
  return new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, details)
}

/** A webhook that could not be asked, or whose answer is none. */
export class WebhookCallError extends HubError {
  constructor(message: string) {
    super('EMBEDDED_WEBHOOK_CALL', message, { retry: 'backoff' })
  }
}

/** A value that the type of its field cannot hold, in the words of Go's JSON decoder. */
export class DecodeError extends HubError {
  constructor(message: string) {
    super('EMBEDDED_DECODE', message)
  }
}

/** Bytes that are no protobuf message. */
export class WireError extends HubError {
  constructor(message: string) {
    super('EMBEDDED_PROTOBUF_WIRE', message)
  }
}

/** Bytes that are no object of the kind. */
export class ProtobufError extends HubError {
  constructor(message: string) {
    super('EMBEDDED_PROTOBUF', message)
  }
}

/** An operation that cannot be done: the path is not there, a test failed, or it is none. */
export class JsonPatchError extends HubError {
  constructor(message: string) {
    super('EMBEDDED_JSON_PATCH', message)
  }
}
