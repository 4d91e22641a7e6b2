import { rfc3339 } from '@upgrade-hub/core'
import type { Api } from '../api.ts'
import type { User } from '../http/authenticator.ts'
import { type Json, type JsonObject, objectAt, stringAt } from '../json.ts'

/** Kinds that are asked, not stored: a POST answers the question. */
export interface ReviewKind {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly definition: string
}

function review(group: 'authentication' | 'authorization', plural: string, kind: string): ReviewKind {
  return {
    group: `${group}.k8s.io`,
    version: 'v1',
    plural,
    kind,
    definition: `io.k8s.api.${group}.v1.${kind}`,
  }
}

const REVIEWS: readonly ReviewKind[] = [
  review('authentication', 'selfsubjectreviews', 'SelfSubjectReview'),
  review('authentication', 'tokenreviews', 'TokenReview'),
  review('authorization', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview'),
  review('authorization', 'selfsubjectrulesreviews', 'SelfSubjectRulesReview'),
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

/** Answers a review, whose body was read already. */
export function answerReview(
  api: Pick<Api, 'authenticator' | 'clock'>,
  kind: ReviewKind,
  { body, user }: { readonly body: Json; readonly user: User },
): JsonObject {
  const spec = objectAt(body, 'spec')
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

function tokenStatus(api: Pick<Api, 'authenticator'>, token: string): JsonObject {
  const user = api.authenticator.ofToken(token)
  if (!user) return { user: {}, error: 'invalid bearer token' }
  return { authenticated: true, user: userInfo(user), audiences: ['https://kubernetes.default.svc'] }
}

function userInfo({ username, groups }: User): JsonObject {
  return { username, groups }
}
