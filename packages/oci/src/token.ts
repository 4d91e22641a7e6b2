import type { Clock } from '@upgrade-hub/core'
import { type Dispatcher, request } from 'undici'
import type { Challenge } from './challenge.ts'
import { collect } from './collect.ts'
import type { Credential } from './docker-config.ts'
import { OciError } from './errors.ts'
import { httpFailure, networkFailure } from './failures.ts'
import type { RegistrySettings } from './settings.ts'
import { checkAddress } from './transport.ts'

const MAX_TOKEN_BYTES = 64 * 1024
const CLIENT_ID = 'upgrade-hub'

export interface TokenRequest {
  readonly challenge: Extract<Challenge, { kind: 'bearer' }>
  /** The registry that sent the challenge. */
  readonly registry: URL
  readonly credential: Credential | undefined
  readonly settings: RegistrySettings
  readonly transport: Dispatcher
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Fetches an access token: for nobody, for a user, or in exchange for an identity token. Redirects are not followed.
 * @see https://distribution.github.io/distribution/spec/auth/token/ and …/oauth/
 * @throws OciError OCI_REALM_REFUSED before anything is sent, OCI_CREDENTIALS_REFUSED, OCI_UNREACHABLE
 */
export async function fetchToken(options: TokenRequest): Promise<string> {
  const { challenge, registry, settings, credential, transport, clock, signal } = options
  const realm = allowedRealm(challenge.realm, registry, settings)
  const shared = { dispatcher: transport, signal }
  try {
    const { statusCode, headers, body } =
      credential?.kind === 'identity'
        ? await request(realm, { ...shared, ...exchange(challenge, credential.identityToken) })
        : await request(withQuery(realm, challenge), { ...shared, headers: basicHeaders(credential) })
    body.on('error', () => undefined)
    if (statusCode === 200)
      return tokenIn((await collect(body, MAX_TOKEN_BYTES, 'the token server')).toString('utf8'))
    await body.dump({ limit: MAX_TOKEN_BYTES })
    throw httpFailure(statusCode, `its token server at ${realm.host}`, headers, clock.now())
  } catch (error) {
    throw networkFailure(error)
  }
}

/** The header of a user and password. @see RFC 7617 */
export function basicHeaders(credential: Credential | undefined): Record<string, string> {
  if (credential?.kind !== 'password') return {}
  const pair = Buffer.from(`${credential.username}:${credential.password}`).toString('base64')
  return { authorization: `Basic ${pair}` }
}

/** Credentials go there: only to the registry itself or to a host that the operator has named, and by HTTPS. */
function allowedRealm(text: string, registry: URL, settings: RegistrySettings): URL {
  const realm = URL.canParse(text) ? new URL(text) : undefined
  if (!realm || !/^https?:$/.test(realm.protocol) || realm.username !== '' || realm.password !== '')
    throw new OciError('OCI_REALM_REFUSED', 'the registry names no token server that can be asked')
  const isOwn = realm.origin === registry.origin
  if (realm.protocol !== 'https:' && !isOwn)
    throw new OciError('OCI_REALM_REFUSED', `the token server ${realm.host} is not asked by HTTPS`)
  const isDockerHub = registry.host === 'registry-1.docker.io' && realm.host === 'auth.docker.io'
  if (!isOwn && !isDockerHub && !settings.allow.includes(realm.host))
    throw new OciError('OCI_REALM_REFUSED', `the token server ${realm.host} is not in registry.allow`)
  checkAddress(realm, settings)
  return realm
}

function withQuery(realm: URL, { service, scope }: TokenRequest['challenge']): URL {
  const url = new URL(realm)
  if (service !== undefined) url.searchParams.set('service', service)
  if (scope !== undefined) url.searchParams.set('scope', scope)
  return url
}

function exchange({ service = '', scope = '' }: TokenRequest['challenge'], identityToken: string) {
  const form = {
    grant_type: 'refresh_token',
    service,
    scope,
    client_id: CLIENT_ID,
    refresh_token: identityToken,
  }
  return {
    method: 'POST' as const,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  }
}

function tokenIn(text: string): string {
  const { token, access_token: accessToken } = parse(text)
  const found = token ?? accessToken
  if (typeof found === 'string' && /^[\x21-\x7e]+$/.test(found)) return found
  throw new OciError('OCI_CREDENTIALS_REFUSED', 'the token server sent no token')
}

/** The text may hold a token, so nothing of it is ever shown. */
function parse(text: string): { token?: unknown; access_token?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
