import { Ajv } from 'ajv'
import { type Static, Type } from 'typebox'
import { HttpError } from '../errors.ts'

const Text = (maxLength: number) => Type.String({ maxLength })
const GroupVersionKind = Type.Object({
  group: Text(253),
  version: Text(63),
  kind: Type.String({ minLength: 1, maxLength: 63 }),
})
const AnyObject = Type.Record(Type.String(), Type.Unknown())

/** As much of admission.k8s.io/v1 AdmissionReview as a verdict needs; what else is there is ignored. */
const AdmissionReview = Type.Object({
  apiVersion: Type.Literal('admission.k8s.io/v1'),
  kind: Type.Literal('AdmissionReview'),
  request: Type.Object({
    uid: Type.String({ minLength: 1, maxLength: 128 }),
    kind: GroupVersionKind,
    operation: Type.Unsafe<'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'>({
      enum: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
    }),
    userInfo: Type.Optional(Type.Object({ username: Type.Optional(Text(253)) })),
    subResource: Type.Optional(Text(63)),
    object: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({ anyOf: [AnyObject, { type: 'null' }] }),
    ),
    oldObject: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({ anyOf: [AnyObject, { type: 'null' }] }),
    ),
  }),
})
type AdmissionReview = Static<typeof AdmissionReview>

/** One question of the API server, or of whoever calls the port. */
export type AdmissionRequest = AdmissionReview['request']

export interface AdmissionAnswer {
  readonly allowed: boolean
  /** What the user is told. */
  readonly message?: string
  readonly warnings?: readonly string[]
  /** RFC 6902. */
  readonly patch?: readonly { readonly op: 'add'; readonly path: string; readonly value: string }[]
}

const check = new Ajv({ strict: true }).compile<AdmissionReview>(AdmissionReview)

/** Reads a question strictly: the sender may be any pod. @throws HttpError 400 BAD_REVIEW */
export function parseReview(body: unknown): AdmissionRequest {
  if (!check(body)) {
    const problem = check.errors?.[0]
    throw bad(
      `this is no admission.k8s.io/v1 AdmissionReview: ${problem?.instancePath || '/'} ${problem?.message ?? ''}`,
    )
  }
  const { request } = body
  const { operation } = request
  if ((operation === 'CREATE' || operation === 'UPDATE') && !request.object)
    throw bad(`a ${operation} has an object`)
  if (operation === 'UPDATE' && !request.oldObject) throw bad('an UPDATE has an oldObject')
  return request
}

/** The review that answers `uid`. */
export function answerReview(
  uid: string,
  { allowed, message, patch, warnings = [] }: AdmissionAnswer,
): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed,
      ...(message === undefined ? {} : { status: { code: 422, reason: 'Invalid', message } }),
      ...(patch
        ? { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
        : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
    },
  }
}

function bad(message: string): HttpError {
  return new HttpError(400, 'BAD_REVIEW', message)
}
