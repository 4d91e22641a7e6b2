import { type Dispatcher, request } from 'undici'
import { OciError } from './errors.ts'
import type { RegistrySettings } from './settings.ts'

const MAX_TOKEN_BYTES = 64 * 1024

interface TokenRequest {
  /** The header `WWW-Authenticate`. */
  readonly challenge: string | undefined
  readonly registry: URL
  readonly settings: RegistrySettings
  readonly agent: Dispatcher
  readonly signal: AbortSignal
}

/**
 * Fetches the token that public registries hand to anybody.
 * @see https://distribution.github.io/distribution/spec/auth/token/
 * @throws OciError PullFailed when it asks for more than that, PolicyRefused for a realm that is not allowed
 */
export async function anonymousToken({
  challenge,
  registry,
  settings,
  agent,
  signal,
}: TokenRequest): Promise<string> {
  const fields = bearerFields(challenge ?? '')
  const realm = fields.get('realm')
  if (realm === undefined || !URL.canParse(realm))
    throw new OciError('PullFailed', 'the registry wants a login')
  const url = new URL(realm)
  checkRealm(url, registry, settings)
  for (const name of ['service', 'scope']) {
    const value = fields.get(name)
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const { statusCode, body } = await request(url, { dispatcher: agent, signal })
  if (statusCode !== 200) {
    await body.dump()
    throw new OciError('PullFailed', `the registry gives no token to anybody (${statusCode})`)
  }
  return tokenIn(await readCapped(body))
}

function checkRealm(realm: URL, registry: URL, settings: RegistrySettings): void {
  const same = realm.origin === registry.origin
  if (realm.protocol !== 'https:' && !same)
    throw new OciError('PolicyRefused', 'the token realm is not HTTPS')
  const inDomain = siteOf(realm.hostname) === siteOf(registry.hostname)
  if (same || inDomain || settings.allow.includes(realm.host)) return
  throw new OciError('PolicyRefused', `the token realm ${realm.host} is not allowed on this node`)
}

/** `auth.docker.io` and `registry-1.docker.io` are one site. */
function siteOf(hostname: string): string {
  return hostname.split('.').slice(-2).join('.')
}

function bearerFields(challenge: string): ReadonlyMap<string, string> {
  if (!/^Bearer /i.test(challenge) || challenge.length > 4096) return new Map()
  const pairs = challenge.matchAll(/([a-z_]+)="([^"]*)"/gi)
  return new Map([...pairs].map((pair) => [(pair[1] ?? '').toLowerCase(), pair[2] ?? '']))
}

async function readCapped(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_TOKEN_BYTES) throw new OciError('PullFailed', 'the token is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tokenIn(text: string): string {
  const value = JSON.parse(text) as { token?: unknown; access_token?: unknown }
  const token = value.token ?? value.access_token
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new OciError('PullFailed', 'no token came')
  return token
}
