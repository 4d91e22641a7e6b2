import { createHmac, timingSafeEqual } from 'node:crypto'
import { sha256Hex } from '@upgrade-hub/core'
import { PkiError } from './errors.ts'
import { isNodeName } from './node-name.ts'

/** What a bootstrap token grants: one name when bound, any new name otherwise. */
export interface TokenClaims {
  readonly id: string
  readonly nodeName?: string
}

const HEADER = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')
const MAX_TOKEN_CHARS = 2048
const MIN_KEY_BYTES = 32

/** The first part of a token: it lets a joining edge recognise the CA that it fetched over an unverified connection. */
export function caHash(caDer: Uint8Array): string {
  return sha256Hex(caDer)
}

/**
 * KubeEdge's token form, `hex(sha256(CA DER)).<HS256 JWT>`, with an id to revoke it by and, when given, the only node
 * that may use it. `expiresAt` is ms since the epoch.
 * @see https://www.rfc-editor.org/rfc/rfc7519
 */
export function issueToken(options: {
  caDer: Uint8Array
  signingKey: Uint8Array
  id: string
  nodeName?: string
  expiresAt: number
}): string {
  const claims = { jti: options.id, exp: Math.floor(options.expiresAt / 1000), node: options.nodeName }
  const body = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${caHash(options.caDer)}.${body}.${signatureOf(body, options.signingKey).toString('base64url')}`
}

/** @throws PkiError PKI_TOKEN_INVALID */
export function splitToken(token: string): { caHash: string; jwt: string } {
  const match = /^([a-f0-9]{64})\.([\w-]+\.[\w-]+\.[\w-]+)$/.exec(
    token.length <= MAX_TOKEN_CHARS ? token : '',
  )
  if (!match?.[1] || !match[2]) {
    throw new PkiError('PKI_TOKEN_INVALID', 'the token is not one of ours: it is written {CA hash}.{JWT}')
  }
  return { caHash: match[1], jwt: match[2] }
}

/**
 * Checks signature (in constant time), algorithm and expiry; whether `id` was revoked is the caller's to ask.
 * `now` is ms since the epoch. @throws PkiError PKI_TOKEN_INVALID, PKI_TOKEN_EXPIRED
 */
export function verifyToken(jwt: string, options: { signingKey: Uint8Array; now: number }): TokenClaims {
  const [header, payload, signature, ...rest] = jwt.length <= MAX_TOKEN_CHARS ? jwt.split('.') : []
  if (header !== HEADER || !payload || !signature || rest.length > 0) throw invalid()
  const expected = signatureOf(`${header}.${payload}`, options.signingKey)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalid()
  return readClaims(payload, options.now)
}

function readClaims(payload: string, now: number): TokenClaims {
  const { jti, exp, node } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<
    string,
    unknown
  >
  if (typeof jti !== 'string' || typeof exp !== 'number') throw invalid()
  if (node !== undefined && !(typeof node === 'string' && isNodeName(node))) throw invalid()
  if (now >= exp * 1000) throw new PkiError('PKI_TOKEN_EXPIRED', 'the token has expired: ask for a new one')
  return { id: jti, ...(node === undefined ? {} : { nodeName: node }) }
}

function signatureOf(text: string, key: Uint8Array): Buffer {
  if (key.length < MIN_KEY_BYTES)
    throw new PkiError('PKI_TOKEN_INVALID', 'the signing key is shorter than 32 bytes')
  return createHmac('sha256', key).update(text).digest()
}

function invalid(): PkiError {
  return new PkiError('PKI_TOKEN_INVALID', 'the token is not valid')
}
