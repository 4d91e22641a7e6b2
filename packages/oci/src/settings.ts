import type { Credentials } from './docker-config.ts'

/** Which registries may be asked and how. */
export interface RegistrySettings {
  /** Hosts (with port) that are asked by HTTP. */
  readonly plainHttp: readonly string[]
  /** PEM of a private CA, beside the system's. */
  readonly ca?: string
  /** Hosts that may be asked; empty means any. */
  readonly allow: readonly string[]
  /**
   * Host by host, who is asked in its place, in this order: `{ 'docker.io': ['mirror.example:5000', 'docker.io'] }`.
   * Digests stay what is trusted.
   */
  readonly mirrors?: Readonly<Record<string, readonly string[]>>
  readonly credentials?: Credentials
  readonly proxy?: ProxySettings
}

/** By which proxies to go out; a URL may hold a name and a password. */
export interface ProxySettings {
  readonly http?: string
  readonly https?: string
  /** Hosts, domains, or `*`, with a comma between: as in the variable NO_PROXY. */
  readonly noProxy: string
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
  /** Tries in a row that bring nothing, after the first, at each source. */
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
