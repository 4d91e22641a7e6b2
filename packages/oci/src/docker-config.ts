import { ConfigError } from '@upgrade-hub/core'

/** What a registry is told about who asks. `identityToken` is exchanged for an access token (docker login with OAuth2). */
export type Credential =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  | { readonly kind: 'identity'; readonly identityToken: string }

/** Host (with port) by host. */
export type Credentials = ReadonlyMap<string, Credential>

const MAX_CONFIG_BYTES = 256 * 1024
const MAX_HOSTS = 256

/**
 * Reads the `auths` of a docker config.json (also what a `kubernetes.io/dockerconfigjson` Secret holds). Credential helpers
 * are programs: they are never run, and entries that need one count as absent.
 * @see https://docs.docker.com/reference/cli/docker/login/
 * @throws ConfigError that shows no secret
 */
export function parseDockerConfig(text: string, source: string): Credentials {
  if (text.length > MAX_CONFIG_BYTES) throw new ConfigError(source, [`larger than ${MAX_CONFIG_BYTES} bytes`])
  const auths = fieldOf(parse(text, source), 'auths')
  const entries = typeof auths === 'object' && auths !== null ? Object.entries(auths) : []
  if (entries.length > MAX_HOSTS) throw new ConfigError(source, [`more than ${MAX_HOSTS} registries`])
  const problems: string[] = []
  const credentials = new Map<string, Credential>()
  for (const [key, value] of entries) {
    const credential = credentialOf(value)
    if (credential === 'bad') problems.push(`/auths has no user and password for ${key.slice(0, 255)}`)
    else if (credential) credentials.set(hostOf(key), credential)
  }
  if (problems.length > 0) throw new ConfigError(source, problems)
  return credentials
}

function credentialOf(value: unknown): Credential | 'bad' | undefined {
  const identityToken = textField(value, 'identitytoken')
  if (identityToken) return { kind: 'identity', identityToken }
  const username = textField(value, 'username')
  const password = textField(value, 'password')
  if (username && password) return { kind: 'password', username, password }
  const auth = textField(value, 'auth')
  if (!auth) return undefined
  const decoded = Buffer.from(auth, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  if (colon < 1) return 'bad'
  // docker pads with NUL in some versions.
  const secret = decoded.slice(colon + 1).replace(/\0+$/, '')
  return { kind: 'password', username: decoded.slice(0, colon), password: secret }
}

/** Keys are hosts, or URLs from older versions of docker: `https://index.docker.io/v1/`. */
function hostOf(key: string): string {
  const host = key.replace(/^https?:\/\//, '').split('/')[0] ?? ''
  const isDockerHub = ['index.docker.io', 'registry-1.docker.io', 'docker.io'].includes(host)
  return isDockerHub ? 'docker.io' : host
}

function textField(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name)
  return typeof field === 'string' && field !== '' ? field : undefined
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name]
}

/** JSON.parse quotes what it cannot read, and that may be a password. */
function parse(text: string, source: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ConfigError(source, ['not JSON'])
  }
}
