import { OciError } from './errors.ts'

/** The part of an OCI platform that is compared. */
export interface Platform {
  readonly os: string
  readonly arch: string
  readonly variant?: string
}

/** Content by its digest. @see https://github.com/opencontainers/image-spec/blob/main/descriptor.md */
export interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export interface IndexEntry extends Descriptor {
  readonly platform?: Platform
}

export type Manifest =
  | { readonly kind: 'index'; readonly manifests: readonly IndexEntry[] }
  | { readonly kind: 'image'; readonly config: Descriptor; readonly layers: readonly Descriptor[] }

const INDEXES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]
const IMAGES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]

/** What is asked for; order is preference. */
export const ACCEPT_MANIFESTS = [...INDEXES, ...IMAGES].join(', ')

const DIGEST = /^sha256:[a-f0-9]{64}$/
const MAX_INDEX_ENTRIES = 256

/** Reads an index or an image manifest, docker's or OCI's. @throws OciError OCI_MANIFEST_INVALID */
export function parseManifest(text: string, contentType: string): Manifest {
  const value = asObject(parseJson(text))
  const type = typeof value['mediaType'] === 'string' ? value['mediaType'] : contentType.split(';')[0]?.trim()
  if (type !== undefined && INDEXES.includes(type)) return indexOf(value)
  if (type !== undefined && IMAGES.includes(type)) return imageOf(value)
  throw bad(`a manifest of the type ${String(type).slice(0, 100)}`)
}

/** What an image's config says of it. */
export interface ImageConfig {
  /** Digests of the unpacked layers. */
  readonly diffIds: readonly string[]
  /** Undefined where the config does not say. */
  readonly os: string | undefined
  readonly arch: string | undefined
}

/** @throws OciError OCI_MANIFEST_INVALID */
export function parseConfig(text: string): ImageConfig {
  const config = asObject(parseJson(text))
  const ids = asObject(config['rootfs'])['diff_ids']
  if (!Array.isArray(ids)) throw bad('a config without rootfs.diff_ids')
  return { diffIds: ids.map(asDigest), os: textOf(config['os']), arch: textOf(config['architecture']) }
}

/** @throws OciError OCI_WRONG_PLATFORM for an image that says it is of another platform */
export function checkConfig({ os, arch }: ImageConfig, wanted: Platform): void {
  if ((os ?? wanted.os) === wanted.os && (arch ?? wanted.arch) === wanted.arch) return
  throw new OciError(
    'OCI_WRONG_PLATFORM',
    `the image is of ${os}/${arch}, this node of ${platformName(wanted)}`,
  )
}

/**
 * The entry of an index for a platform: the same variant, else the next older one that this platform runs too.
 * @throws OciError OCI_WRONG_PLATFORM
 */
export function choosePlatform(entries: readonly IndexEntry[], wanted: Platform): IndexEntry {
  const same = entries.filter(({ platform }) => platform?.os === wanted.os && platform.arch === wanted.arch)
  for (const variant of runnableVariants(wanted)) {
    const found = same.find(({ platform }) => normalVariant(platform) === variant)
    if (found) return found
  }
  throw new OciError('OCI_WRONG_PLATFORM', `the image is not built for ${platformName(wanted)}`)
}

/** `{os}/{arch}[/{variant}]` */
export function platformName({ os, arch, variant }: Platform): string {
  return variant === undefined ? `${os}/${arch}` : `${os}/${arch}/${variant}`
}

/** arm64 is v8 and amd64 is v1 unless said otherwise, as in containerd's platforms package. */
function normalVariant(platform: Platform | undefined): string {
  const defaults: Readonly<Record<string, string>> = { arm64: 'v8', amd64: 'v1', arm: 'v7' }
  return platform?.variant ?? defaults[platform?.arch ?? ''] ?? ''
}

/** ARM runs what was built for an older version of it; elsewhere a variant is a promise of its own. */
function runnableVariants(platform: Platform): readonly string[] {
  const own = normalVariant(platform)
  const arm = ['v7', 'v6', 'v5']
  return platform.arch === 'arm' && arm.includes(own) ? arm.slice(arm.indexOf(own)) : [own]
}

function indexOf(value: Record<string, unknown>): Manifest {
  const entries = value['manifests']
  if (!Array.isArray(entries) || entries.length > MAX_INDEX_ENTRIES)
    throw bad('an index without a bounded list')
  return { kind: 'index', manifests: entries.map((entry) => entryOf(asObject(entry))) }
}

function imageOf(value: Record<string, unknown>): Manifest {
  const layers = value['layers']
  if (!Array.isArray(layers)) throw bad('a manifest without layers')
  return {
    kind: 'image',
    config: descriptorOf(asObject(value['config'])),
    layers: layers.map((layer) => descriptorOf(asObject(layer))),
  }
}

function entryOf(value: Record<string, unknown>): IndexEntry {
  if (value['platform'] === undefined) return descriptorOf(value)
  const { os, architecture, variant } = asObject(value['platform'])
  if (typeof os !== 'string' || typeof architecture !== 'string')
    throw bad('a platform without os or architecture')
  const more = typeof variant === 'string' && variant !== '' ? { variant } : {}
  return { ...descriptorOf(value), platform: { os, arch: architecture, ...more } }
}

function descriptorOf(value: Record<string, unknown>): Descriptor {
  const { mediaType, digest, size } = value
  if (typeof mediaType !== 'string') throw bad('a descriptor without a media type')
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw bad('a descriptor without a size')
  return { mediaType, digest: asDigest(digest), size }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function asDigest(value: unknown): string {
  if (typeof value === 'string' && DIGEST.test(value)) return value
  throw bad('a digest that is not sha256')
}

function asObject(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw bad('JSON of another shape')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw bad('a manifest that is not JSON')
  }
}

function bad(what: string): OciError {
  return new OciError('OCI_MANIFEST_INVALID', `the registry sent ${what}`)
}
