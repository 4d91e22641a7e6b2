import { type Static, Type } from 'typebox'
import type { ObjectMeta } from './meta.ts'
import { text } from './schema-kit.ts'

export const EdgeIdentitySpec = Type.Object(
  {
    fingerprint: Type.String({
      description:
        'SHA-256 of the public key (SubjectPublicKeyInfo DER) that alone may speak for the node, in hex.',
      pattern: '^[a-f0-9]{64}$',
      maxLength: 64,
    }),
    previousFingerprint: text(
      'The key before the last renewal. It is valid until the new one is first used, so that a lost answer locks nobody out.',
      { pattern: '^([a-f0-9]{64})?$', maxLength: 64 },
    ),
    machineID: text('The machine that enrolled; empty until its first hello.', { maxLength: 128 }),
    enrolledAt: text('When it enrolled, RFC 3339.', { maxLength: 40 }),
    token: text('Id of the bootstrap token it enrolled with.', { maxLength: 64 }),
    notAfter: text('End of its certificate, RFC 3339.', { maxLength: 40 }),
  },
  {
    description:
      'The key and machine that speak for the node of this name. Deleting the object revokes them.',
  },
)
export type EdgeIdentitySpec = Static<typeof EdgeIdentitySpec>

/** `upgradehub.io/v1alpha1` EdgeIdentity; its name is the node's. */
export interface EdgeIdentity {
  readonly apiVersion: 'upgradehub.io/v1alpha1'
  readonly kind: 'EdgeIdentity'
  readonly metadata: ObjectMeta
  readonly spec: EdgeIdentitySpec
}
