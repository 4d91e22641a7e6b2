import { PkiError } from './errors.ts'
import { generateKeys, importKeyPair, isP256, privateKeyPem, SIGNING_ALGORITHM } from './keys.ts'
import { NODE_ORGANIZATION, nodeCommonName } from './node-name.ts'
import { x509 } from './x509.ts'

/** The largest request that is looked at, in bytes of DER. */
export const MAX_CSR_BYTES = 16 * 1024

/**
 * A request for a node's certificate, with a fresh P-256 key or the one that is given. The key is PKCS #8 PEM and never
 * leaves the machine. @throws PkiError PKI_NAME_INVALID
 */
export async function createNodeCsr(options: {
  nodeName: string
  keyPem?: string
}): Promise<{ csrDer: Buffer; keyPem: string }> {
  const keys = options.keyPem === undefined ? await generateKeys() : await importKeyPair(options.keyPem)
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [nodeCommonName(options.nodeName)] }, { O: [NODE_ORGANIZATION] }],
    keys,
    signingAlgorithm: SIGNING_ALGORITHM,
  })
  return {
    csrDer: Buffer.from(csr.rawData),
    keyPem: options.keyPem ?? (await privateKeyPem(keys.privateKey)),
  }
}

/**
 * The public key of a request, once the request has proven that its sender holds the private one. Nothing else in it is
 * ever used. @throws PkiError PKI_CSR_TOO_BIG, PKI_CSR_INVALID
 */
export async function publicKeyOf(csrDer: Uint8Array): Promise<x509.PublicKey> {
  if (csrDer.length > MAX_CSR_BYTES) {
    throw new PkiError(
      'PKI_CSR_TOO_BIG',
      `a request may have ${MAX_CSR_BYTES} bytes, this one has ${csrDer.length}`,
    )
  }
  try {
    const csr = new x509.Pkcs10CertificateRequest(csrDer as Uint8Array<ArrayBuffer>)
    if (isP256(Buffer.from(csr.publicKey.rawData)) && (await csr.verify())) return csr.publicKey
  } catch (cause) {
    throw new PkiError('PKI_CSR_INVALID', 'the body is not a PKCS #10 request in DER', { cause })
  }
  throw new PkiError('PKI_CSR_INVALID', 'the request must have a P-256 key and be signed by it')
}
