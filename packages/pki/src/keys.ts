import { createPrivateKey, createPublicKey, type KeyObject, webcrypto } from 'node:crypto'

/** The one kind of key this project makes and accepts: ECDSA on P-256 with SHA-256. */
const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const
export const SIGNING_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' } as const
const OPENSSL_CURVE = 'prime256v1'

export function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify'])
}

/** PKCS #8 PEM. */
export async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString()
}

/** Reads PKCS #8 or SEC1 (what KubeEdge and openssl write). Throws what Node throws for anything else. */
export function importKeyPair(pem: string): Promise<webcrypto.CryptoKeyPair> {
  const key = createPrivateKey(pem)
  return importPair(key, createPublicKey(key))
}

async function importPair(privateKey: KeyObject, publicKey: KeyObject): Promise<webcrypto.CryptoKeyPair> {
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return {
    privateKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, KEY_ALGORITHM, false, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', spki, KEY_ALGORITHM, true, ['verify']),
  }
}

export function isP256(spkiDer: Buffer): boolean {
  const key = createPublicKey({ key: spkiDer, format: 'der', type: 'spki' })
  return key.asymmetricKeyDetails?.namedCurve === OPENSSL_CURVE
}
