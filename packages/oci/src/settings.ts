import { OciError } from './errors.ts'

/** Which registries may be asked and how. */
export interface RegistrySettings {
  /** Hosts (with port) that are asked by HTTP. */
  readonly plainHttp: readonly string[]
  /** PEM of a private CA, beside the system's. */
  readonly ca?: string
  /** Hosts that may be asked; empty means any. */
  readonly allow: readonly string[]
  /** Host by host, who is asked in its place: `{ 'docker.io': 'mirror.example:5000' }`. Digests stay what is trusted. */
  readonly mirrors?: Readonly<Record<string, string>>
}

/** Caps of one pull. Every one is enforced while streaming. */
export interface PullLimits {
  readonly maxManifestBytes: number
  readonly maxLayers: number
  /** Of one layer as it travels. */
  readonly maxLayerBytes: number
  /** Of one layer after decompression. */
  readonly maxUnpackedBytes: number
  readonly maxEntries: number
  readonly maxFileBytes: number
  /** Slower than this over `rateWindowMs` ends a request. */
  readonly minBytesPerSecond: number
  readonly rateWindowMs: number
  /** For one answer's headers. */
  readonly headersTimeoutMs: number
  /** For everything together. */
  readonly deadlineMs: number
  /** Tries after the first, of each request. */
  readonly retries: number
  readonly maxRedirects: number
}

const MIB = 1024 * 1024

export const DEFAULT_LIMITS: PullLimits = {
  maxManifestBytes: 4 * MIB,
  maxLayers: 64,
  maxLayerBytes: 1024 * MIB,
  maxUnpackedBytes: 4096 * MIB,
  maxEntries: 200_000,
  maxFileBytes: 1024 * MIB,
  minBytesPerSecond: 512,
  rateWindowMs: 30_000,
  headersTimeoutMs: 15_000,
  deadlineMs: 30 * 60_000,
  retries: 4,
  maxRedirects: 5,
}

/** docker.io is a name, not a host; its API lives elsewhere. */
const API_HOSTS: ReadonlyMap<string, string> = new Map([['docker.io', 'registry-1.docker.io']])

/** The base URL of a registry's API. @throws OciError PolicyRefused for one that is not allowed */
export function registryUrl(registry: string, settings: RegistrySettings): URL {
  const allowed = settings.allow.length === 0 || settings.allow.includes(registry)
  if (!allowed) throw new OciError('PolicyRefused', `the registry ${registry} is not allowed on this node`)
  const mirror = Object.entries(settings.mirrors ?? {}).find(([host]) => host === registry)?.[1]
  const host = mirror ?? API_HOSTS.get(registry) ?? registry
  const scheme = settings.plainHttp.includes(mirror ?? registry) ? 'http' : 'https'
  return new URL(`${scheme}://${host}/`)
}

/** docker.io keeps its own images in `library/`. */
export function repositoryPath(registry: string, repository: string): string {
  return registry === 'docker.io' && !repository.includes('/') ? `library/${repository}` : repository
}
