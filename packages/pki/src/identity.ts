import { X509Certificate } from 'node:crypto'
import { sha256Hex } from '@upgrade-hub/core'
import { isNodeName, NODE_CN_PREFIX, NODE_ORGANIZATION } from './node-name.ts'

/** Who a certificate speaks for. The fingerprint is the SHA-256 of its public key (SPKI DER), so it outlives a renewal. */
export interface NodeIdentity {
  readonly nodeName: string
  readonly fingerprint: string
}

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'

/**
 * Reads the node out of a certificate that the TLS stack has already verified; undefined when it speaks for no node.
 * The subject must be exactly CN `system:node:{name}` and O `system:nodes`: anything more, less or twice is refused.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/node/
 */
export function identityOf(certificate: X509Certificate | Uint8Array): NodeIdentity | undefined {
  const cert = parse(certificate)
  if (!cert || cert.ca || !cert.keyUsage?.includes(CLIENT_AUTH)) return undefined
  const nodeName = nodeNameOf(cert.subject)
  return nodeName === undefined ? undefined : { nodeName, fingerprint: fingerprintOf(cert) }
}

/** SHA-256 in hex of the certificate's SubjectPublicKeyInfo. */
export function fingerprintOf(cert: X509Certificate): string {
  return sha256Hex(cert.publicKey.export({ type: 'spki', format: 'der' }))
}

/** Node prints one RDN a line and escapes control characters and `+`, so an exact match of two lines cannot be forged. */
function nodeNameOf(subject: string): string | undefined {
  const lines = (subject ?? '').split('\n')
  const name = lines
    .find((line) => line.startsWith(`CN=${NODE_CN_PREFIX}`))
    ?.slice(`CN=${NODE_CN_PREFIX}`.length)
  const exact = lines.length === 2 && lines.includes(`O=${NODE_ORGANIZATION}`)
  return exact && name !== undefined && isNodeName(name) ? name : undefined
}

function parse(certificate: X509Certificate | Uint8Array): X509Certificate | undefined {
  if (certificate instanceof X509Certificate) return certificate
  try {
    return new X509Certificate(certificate)
  } catch {
    return undefined
  }
}
