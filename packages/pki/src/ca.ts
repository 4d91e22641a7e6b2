import { randomBytes, webcrypto, X509Certificate } from 'node:crypto'
import { type Clock, systemClock } from '@upgrade-hub/core'
import { publicKeyOf } from './csr.ts'
import { PkiError } from './errors.ts'
import { fingerprintOf } from './identity.ts'
import { generateKeys, importKeyPair, privateKeyPem, SIGNING_ALGORITHM } from './keys.ts'
import { NODE_ORGANIZATION, nodeCommonName } from './node-name.ts'
import { x509 } from './x509.ts'

export interface SignedNode {
  readonly certDer: Buffer
  readonly certPem: string
  readonly fingerprint: string
  readonly notAfter: Date
}

/** A certificate with its key, both PEM. */
export interface Issued {
  readonly certPem: string
  readonly keyPem: string
  readonly notAfter: Date
}

/** Signs for one certificate authority. About 15 ms of CPU a signature, so callers queue a crowd. */
export interface Ca {
  readonly certPem: string
  readonly keyPem: string
  readonly certDer: Buffer
  /** @throws PkiError PKI_CSR_TOO_BIG, PKI_CSR_INVALID, PKI_NAME_INVALID */
  signNodeCsr(csrDer: Uint8Array, options: { nodeName: string; validSeconds: number }): Promise<SignedNode>
  issueServer(options: {
    dnsNames: readonly string[]
    ipAddresses: readonly string[]
    validDays: number
  }): Promise<Issued>
  issueClient(options: { commonName: string; organization?: string; validDays: number }): Promise<Issued>
}

const DAY_MS = 86_400_000
/** Edges boot with clocks that lag; a certificate must already be valid for them. */
const BACKDATE_MS = 3_600_000
/** Never the name of a CA: a certificate whose subject is its issuer's name is taken for self-signed. */
const SERVER_COMMON_NAME = 'upgrade-hub-server'

/** A new self-signed CA that may sign end entities only. */
export async function createCa(
  options: { commonName: string; validDays: number },
  clock: Clock = systemClock,
): Promise<Ca> {
  const keys = await generateKeys()
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: [{ CN: [options.commonName] }],
    notBefore: new Date(clock.now() - BACKDATE_MS),
    notAfter: new Date(clock.now() + options.validDays * DAY_MS),
    keys,
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return loadCa({ certPem: `${cert.toString('pem')}\n`, keyPem: await privateKeyPem(keys.privateKey) }, clock)
}

/** Takes up a CA that was stored. @throws PkiError PKI_CA_INVALID when it is none, or the key is another's. */
export async function loadCa(
  options: { certPem: string; keyPem: string },
  clock: Clock = systemClock,
): Promise<Ca> {
  try {
    const parsed = new X509Certificate(options.certPem)
    const keys = await importKeyPair(options.keyPem)
    const spki = Buffer.from(await webcrypto.subtle.exportKey('spki', keys.publicKey))
    if (!parsed.ca || !spki.equals(parsed.publicKey.export({ type: 'spki', format: 'der' }))) throw mismatch()
    return new LoadedCa({ ...options, certDer: Buffer.from(parsed.raw), signingKey: keys.privateKey, clock })
  } catch (cause) {
    if (cause instanceof PkiError) throw cause
    throw new PkiError('PKI_CA_INVALID', 'the CA is not a certificate and a P-256 key in PEM', { cause })
  }
}

function mismatch(): PkiError {
  return new PkiError('PKI_CA_INVALID', 'the certificate is not a CA of this key')
}

interface Material {
  readonly certPem: string
  readonly keyPem: string
  readonly certDer: Buffer
  readonly signingKey: webcrypto.CryptoKey
  readonly clock: Clock
}

interface Leaf {
  readonly subject: x509.JsonName
  readonly publicKey: x509.PublicKey | webcrypto.CryptoKey
  readonly usage: x509.ExtendedKeyUsage
  readonly names: x509.JsonGeneralNames
  readonly validMs: number
}

class LoadedCa implements Ca {
  readonly certPem: string
  readonly keyPem: string
  readonly certDer: Buffer
  readonly #material: Material
  readonly #cert: x509.X509Certificate

  constructor(material: Material) {
    this.certPem = material.certPem
    this.keyPem = material.keyPem
    this.certDer = material.certDer
    this.#material = material
    this.#cert = new x509.X509Certificate(new Uint8Array(material.certDer))
  }

  async signNodeCsr(
    csrDer: Uint8Array,
    options: { nodeName: string; validSeconds: number },
  ): Promise<SignedNode> {
    const cert = await this.#sign({
      subject: [{ CN: [nodeCommonName(options.nodeName)] }, { O: [NODE_ORGANIZATION] }],
      publicKey: await publicKeyOf(csrDer),
      usage: x509.ExtendedKeyUsage.clientAuth,
      names: [],
      validMs: options.validSeconds * 1000,
    })
    const certDer = Buffer.from(cert.rawData)
    return {
      certDer,
      certPem: `${cert.toString('pem')}\n`,
      fingerprint: fingerprintOf(new X509Certificate(certDer)),
      notAfter: cert.notAfter,
    }
  }

  issueServer(options: {
    dnsNames: readonly string[]
    ipAddresses: readonly string[]
    validDays: number
  }): Promise<Issued> {
    return this.#issue({
      subject: [{ CN: [SERVER_COMMON_NAME] }],
      usage: x509.ExtendedKeyUsage.serverAuth,
      names: [
        ...options.dnsNames.map((value) => ({ type: 'dns' as const, value })),
        ...options.ipAddresses.map((value) => ({ type: 'ip' as const, value })),
      ],
      validMs: options.validDays * DAY_MS,
    })
  }

  issueClient(options: { commonName: string; organization?: string; validDays: number }): Promise<Issued> {
    return this.#issue({
      subject: [
        { CN: [options.commonName] },
        ...(options.organization === undefined ? [] : [{ O: [options.organization] }]),
      ],
      usage: x509.ExtendedKeyUsage.clientAuth,
      names: [],
      validMs: options.validDays * DAY_MS,
    })
  }

  async #issue(leaf: Omit<Leaf, 'publicKey'>): Promise<Issued> {
    const keys = await generateKeys()
    const cert = await this.#sign({ ...leaf, publicKey: keys.publicKey })
    return {
      certPem: `${cert.toString('pem')}\n`,
      keyPem: await privateKeyPem(keys.privateKey),
      notAfter: cert.notAfter,
    }
  }

  async #sign(leaf: Leaf): Promise<x509.X509Certificate> {
    const now = this.#material.clock.now()
    return x509.X509CertificateGenerator.create({
      serialNumber: serial(),
      subject: leaf.subject,
      issuer: this.#cert.subjectName,
      notBefore: new Date(Math.max(now - BACKDATE_MS, this.#cert.notBefore.getTime())),
      // A certificate that outlives its CA would only look valid.
      notAfter: new Date(Math.min(now + leaf.validMs, this.#cert.notAfter.getTime())),
      publicKey: leaf.publicKey,
      signingKey: this.#material.signingKey,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([leaf.usage]),
        ...(leaf.names.length > 0 ? [new x509.SubjectAlternativeNameExtension(leaf.names)] : []),
        await x509.AuthorityKeyIdentifierExtension.create(this.#cert.publicKey),
      ],
    })
  }
}

/** 16 random bytes; the leading one keeps the number positive and of full length. */
function serial(): string {
  return `1${randomBytes(16).toString('hex').slice(1)}`
}
