import { createPublicKey, X509Certificate } from 'node:crypto'
import { caHash, identityOf } from '@upgrade-hub/pki/identity'
import { JoinError } from './errors.ts'
import { askHub } from './request.ts'

/** Fetches the hub's CA as PEM and recognises it by the hash in the token. @throws JoinError */
export async function fetchCa(hub: URL, expectedHash: string): Promise<string> {
  const der = await askHub({ url: new URL('/ca.crt', hub), method: 'GET', trust: 'unverified' })
  if (caHash(der) !== expectedHash) {
    const message = `${hub.origin} is not the hub of this token: its CA is another one`
    throw new JoinError('EDGEADM_JOIN_WRONG_CA', message)
  }
  return pemOf(der)
}

export interface EnrolOptions {
  readonly hub: URL
  readonly nodeName: string
  /** PEM. */
  readonly ca: string
  readonly key: string
  /** A bootstrap token's JWT, or the certificate (PEM) that is to be renewed. */
  readonly credential: { readonly jwt: string } | { readonly cert: string }
}

/** Gets a certificate (PEM) for the key from the hub and checks that it is ours. @throws JoinError */
export async function enrol(options: EnrolOptions): Promise<string> {
  const { hub, nodeName, ca, key, credential } = options
  // The X.509 library is large, and most commands do without it.
  const { createNodeCsr } = await import('@upgrade-hub/pki')
  const { csrDer } = await createNodeCsr({ nodeName, keyPem: key })
  const der = await askHub({
    url: new URL('/edge.crt', hub),
    method: 'POST',
    headers: {
      'content-type': 'application/octet-stream',
      NodeName: nodeName,
      ...('jwt' in credential ? { Authorization: `Bearer ${credential.jwt}` } : {}),
    },
    body: csrDer,
    trust: { ca, ...('cert' in credential ? { cert: credential.cert, key } : {}) },
  })
  return checkedCertificate(der, options)
}

/** The hub is trusted to sign, not to send the right bytes. */
function checkedCertificate(der: Buffer, { nodeName, ca, key }: EnrolOptions): string {
  const wrong = (why: string) => new JoinError('EDGEADM_JOIN_BAD_CERTIFICATE', `the hub's certificate ${why}`)
  const identity = identityOf(der)
  if (identity?.nodeName !== nodeName) throw wrong('is not for this node')
  const cert = new X509Certificate(der)
  if (!isSignedBy(cert, ca)) throw wrong('is not signed by its CA')
  if (!cert.publicKey.equals(createPublicKey(key))) throw wrong('is for another key')
  return pemOf(der)
}

/** While a CA is replaced, its file holds the old and the new one. */
function isSignedBy(cert: X509Certificate, caPem: string): boolean {
  const authorities = caPem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return authorities.some((pem) => cert.verify(new X509Certificate(pem).publicKey))
}

function pemOf(der: Buffer): string {
  try {
    return new X509Certificate(der).toString()
  } catch (cause) {
    throw new JoinError('EDGEADM_JOIN_BAD_CERTIFICATE', 'the hub sent no certificate', { cause })
  }
}
