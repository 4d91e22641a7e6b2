import type { EdgeIdentitySpec } from '@upgrade-hub/api'

/** Who asks for a certificate: a new edge with a bootstrap token, or an enrolled one with the certificate it has. */
export type Applicant =
  | { readonly by: 'token'; readonly tokenId: string }
  | { readonly by: 'certificate'; readonly fingerprint: string }

/** The certificate that was signed for it; times are RFC 3339. */
export interface Application {
  readonly applicant: Applicant
  readonly fingerprint: string
  readonly notAfter: string
  readonly now: string
}

export type IdentityDecision =
  | { readonly kind: 'create' | 'update'; readonly spec: EdgeIdentitySpec }
  | { readonly kind: 'keep' }
  | { readonly kind: 'refuse'; readonly code: 'ALREADY_ENROLLED' | 'REVOKED' | 'IDENTITY_CONFLICT' }

/** True when this key may speak for the node: the current one, or the one before until the current one is first used. */
export function mayUse(spec: EdgeIdentitySpec, fingerprint: string): boolean {
  return fingerprint === spec.fingerprint || (fingerprint !== '' && fingerprint === spec.previousFingerprint)
}

/** What becomes of the identity when a certificate is handed out. */
export function decideEnrolment(stored: EdgeIdentitySpec | undefined, ask: Application): IdentityDecision {
  return ask.applicant.by === 'token'
    ? decideJoin(stored, ask, ask.applicant.tokenId)
    : decideRenewal(stored, ask, ask.applicant.fingerprint)
}

/**
 * A live name is never given to another key: somebody who may delete the EdgeIdentity has to approve. But an edge whose
 * answer was lost has a key that nobody ever used, and may come again with its own token.
 */
function decideJoin(
  stored: EdgeIdentitySpec | undefined,
  ask: Application,
  tokenId: string,
): IdentityDecision {
  const spec = {
    fingerprint: ask.fingerprint,
    machineID: '',
    enrolledAt: ask.now,
    token: tokenId,
    notAfter: ask.notAfter,
  }
  if (!stored) return { kind: 'create', spec }
  if (stored.fingerprint === ask.fingerprint)
    return { kind: 'update', spec: { ...stored, notAfter: ask.notAfter } }
  const neverUsed = (stored.machineID ?? '') === '' && stored.token === tokenId
  return neverUsed ? { kind: 'update', spec } : { kind: 'refuse', code: 'ALREADY_ENROLLED' }
}

/** The key that asks stays valid beside the new one: the answer may be lost, and then it is all the edge has. */
function decideRenewal(
  stored: EdgeIdentitySpec | undefined,
  ask: Application,
  own: string,
): IdentityDecision {
  if (!stored || !mayUse(stored, own)) return { kind: 'refuse', code: 'REVOKED' }
  const previousFingerprint = own === ask.fingerprint ? (stored.previousFingerprint ?? '') : own
  return {
    kind: 'update',
    spec: { ...stored, fingerprint: ask.fingerprint, previousFingerprint, notAfter: ask.notAfter },
  }
}

/** What the first hello with a key fills in, and which hello is another machine's. */
export function decideHello(
  stored: EdgeIdentitySpec | undefined,
  hello: { fingerprint: string; machineID: string },
): IdentityDecision {
  if (!stored || !mayUse(stored, hello.fingerprint)) return { kind: 'refuse', code: 'REVOKED' }
  const machineID = stored.machineID ?? ''
  if (machineID !== '' && machineID !== hello.machineID) return { kind: 'refuse', code: 'IDENTITY_CONFLICT' }
  const firstUse = hello.fingerprint === stored.fingerprint && (stored.previousFingerprint ?? '') !== ''
  if (machineID === hello.machineID && !firstUse) return { kind: 'keep' }
  const previousFingerprint = firstUse ? '' : (stored.previousFingerprint ?? '')
  return { kind: 'update', spec: { ...stored, machineID: hello.machineID, previousFingerprint } }
}
