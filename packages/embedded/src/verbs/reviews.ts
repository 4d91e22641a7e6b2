import { rfc3339 } from '@upgrade-hub/core'
import type { Api } from '../api.ts'
import { badRequest } from '../errors.ts'
import type { User } from '../http/authenticator.ts'
import { isObject, type Json, type JsonObject, stringAt } from '../json.ts'

/** Kinds that are asked, not stored: a POST answers the question. */
export interface ReviewKind {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
}

const REVIEWS: readonly ReviewKind[] = [
  { group: 'authentication.k8s.io', version: 'v1', plural: 'selfsubjectreviews', kind: 'SelfSubjectReview' },
  { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews', kind: 'TokenReview' },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectaccessreviews',
    kind: 'SelfSubjectAccessReview',
  },
  {
    group: 'authorization.k8s.io',
    version: 'v1',
    plural: 'selfsubjectrulesreviews',
    kind: 'SelfSubjectRulesReview',
  },
]

export function reviewKinds(): readonly ReviewKind[] {
  return REVIEWS
}

export function findReview(group: string, version: string, plural: string): ReviewKind | undefined {
  return REVIEWS.find((kind) => kind.group === group && kind.version === version && kind.plural === plural)
}

/** Every authenticated user may do everything: there is no RBAC here. */
const RULES: JsonObject = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
}

/** Answers a review. Throws 400 for a body that is none. */
export function answerReview(
  api: Pick<Api, 'authenticator' | 'clock'>,
  kind: ReviewKind,
  text: string,
  user: User,
): JsonObject {
  const body = parse(text, kind)
  const spec = isObject(body['spec']) ? body['spec'] : {}
  const base = { kind: kind.kind, apiVersion: `${kind.group}/${kind.version}`, metadata: {} }
  switch (kind.kind) {
    case 'SelfSubjectReview':
      return {
        ...base,
        metadata: { creationTimestamp: rfc3339(api.clock.now()) },
        status: { userInfo: userInfo(user) },
      }
    case 'TokenReview':
      return { ...base, spec, status: tokenStatus(api, stringAt(spec, 'token')) }
    case 'SelfSubjectRulesReview':
      return { ...base, spec: {}, status: RULES }
    default:
      return { ...base, spec, status: { allowed: true } }
  }
}

function parse(text: string, { kind }: ReviewKind): JsonObject {
  let body: Json
  try {
    body = JSON.parse(text || '{}') as Json
  } catch {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  }
  if (!isObject(body)) throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  return body
}

function tokenStatus(api: Pick<Api, 'authenticator'>, token: string): JsonObject {
  const user = api.authenticator.ofToken(token)
  if (!user) return { user: {}, error: 'invalid bearer token' }
  return { authenticated: true, user: userInfo(user), audiences: ['https://kubernetes.default.svc'] }
}

function userInfo({ username, groups }: User): JsonObject {
  return { username, groups }
}
