import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, type ImageReference } from '@upgrade-hub/core'
import { OciError } from './errors.ts'
import { extractLayer } from './layer.ts'
import type { ExtractedFile } from './layer-sink.ts'
import {
  checkConfig,
  choosePlatform,
  type Descriptor,
  type Manifest,
  type Platform,
  parseConfig,
  parseManifest,
  platformName,
} from './manifest.ts'
import { type RawManifest, Repository } from './repository.ts'
import type { PullLimits, RegistrySettings } from './settings.ts'
import type { Session } from './source.ts'
import { sourcesOf } from './sources.ts'
import { createTransport } from './transport.ts'

export interface PullOptions {
  readonly image: ImageReference
  /** The index or manifest that has been pinned: then no tag is looked at. */
  readonly digest?: string
  /** `{os}/{arch}[/{variant}]` → the manifest, or the index above it, that must be found for it. */
  readonly digests?: Readonly<Record<string, string>>
  /**
   * Another registry that must say the same digest for the tag, asked with a bearer token. It must be allowed like any
   * other; no mirror stands in for it.
   */
  readonly registryApi?: { readonly host: string; readonly token: string }
  readonly platform: Platform
  /** Absolute paths in the image; each must be a regular file, and their last parts must differ. */
  readonly files: readonly string[]
  /**
   * A folder for this pull alone, which is there: the files get the last part of their paths as names. Layers that are not
   * whole stay in it when a pull fails in a way that may mend, and the next pull into it goes on with them.
   */
  readonly into: string
  readonly registry: RegistrySettings
  readonly limits: PullLimits
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly onProgress?: (done: { readonly bytes: number; readonly total: number }) => void
}

export interface PulledImage {
  /** What the tag named when it was resolved: an index, or a manifest where the image has no index. */
  readonly indexDigest: string
  readonly manifestDigest: string
  readonly platform: Platform
  readonly files: Readonly<Record<string, ExtractedFile>>
}

/**
 * Pulls named files out of an image: tag → index → manifest of the platform → layers from the top until all files are
 * found. Everything is checked against the digest that named it before it is read further. Files are fsynced.
 * @throws OciError, or the signal's reason when it aborts
 */
export async function pullImage(options: PullOptions): Promise<PulledImage> {
  const { clock, limits, registry: settings } = options
  const deadline = new AbortController()
  const timer = clock.after(limits.deadlineMs, () =>
    deadline.abort(new OciError('OCI_DEADLINE', `not done after ${limits.deadlineMs / 1000} s`)),
  )
  const signal = AbortSignal.any([options.signal, deadline.signal])
  const transport = createTransport(settings, limits)
  try {
    const session = { settings, limits, clock, signal, transport }
    return await pull({ ...options, signal }, session)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error
  } finally {
    timer.cancel()
    await transport.destroy()
  }
}

async function pull(options: PullOptions, session: Session): Promise<PulledImage> {
  const { image, digest, platform, into } = options
  const repository = new Repository(sourcesOf(image, options.registry), session)
  const first = await repository.manifest(digest ?? image.digest ?? image.tag ?? 'latest')
  const { manifest, manifestDigest } = await resolve(repository, first, platform)
  await checkRegistryApi(options, session, first.digest)
  checkPinned(options, [first.digest, manifestDigest])
  const config = parseConfig(await repository.smallBlob(manifest.config))
  checkConfig(config, platform)
  checkLayers(manifest.layers, config.diffIds, options.limits)
  const folder = join(into, 'layers')
  await keepOnly(into, folder, manifest.layers)
  try {
    const files = await pullFiles(options, repository, {
      folder,
      layers: manifest.layers,
      diffIds: config.diffIds,
    })
    await rm(folder, { recursive: true, force: true })
    return { indexDigest: first.digest, manifestDigest, platform, files }
  } catch (error) {
    if (!mayGoOn(error, options.signal)) await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** What failed for good is not worth its space. */
function mayGoOn(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || (error instanceof OciError && error.edgeCode === 'PullFailed')
}

type ImageManifest = Extract<Manifest, { kind: 'image' }>

async function resolve(
  repository: Repository,
  first: RawManifest,
  platform: Platform,
): Promise<{ manifest: ImageManifest; manifestDigest: string }> {
  const parsed = parseManifest(first.text, first.contentType)
  if (parsed.kind === 'image') return { manifest: parsed, manifestDigest: first.digest }
  const entry = choosePlatform(parsed.manifests, platform)
  const { text, digest, contentType } = await repository.manifest(entry.digest)
  const manifest = parseManifest(text, contentType)
  if (manifest.kind !== 'image') throw new OciError('OCI_MANIFEST_INVALID', 'an index names an index')
  return { manifest, manifestDigest: digest }
}

function checkPinned({ digests = {}, platform }: PullOptions, found: readonly string[]): void {
  const name = platformName(platform)
  const wanted = digests[name] ?? digests[`${platform.os}/${platform.arch}`]
  if (wanted === undefined || found.includes(wanted)) return
  throw new OciError('OCI_DIGEST_MISMATCH', `the image for ${name} is ${found.join(' / ')}, not ${wanted}`)
}

/** @see `imageDigestGatter.registryAPI` of KubeEdge's NodeUpgradeJob */
async function checkRegistryApi(
  { image, registryApi }: PullOptions,
  session: Session,
  found: string,
): Promise<void> {
  if (!registryApi) return
  const { host, token } = registryApi
  const sources = sourcesOf({ ...image, registry: host }, { ...session.settings, mirrors: {} })
  const api = new Repository(sources, session, { authorization: `Bearer ${token}` })
  const { digest } = await api.manifest(image.tag ?? image.digest ?? 'latest')
  if (digest === found) return
  throw new OciError('OCI_DIGEST_MISMATCH', `${host} says that the image is ${digest}, and it is ${found}`)
}

interface Layers {
  /** Where layers are on their way. */
  readonly folder: string
  readonly layers: readonly Descriptor[]
  readonly diffIds: readonly string[]
}

async function pullFiles(
  options: PullOptions,
  repository: Repository,
  { folder, layers, diffIds }: Layers,
): Promise<Readonly<Record<string, ExtractedFile>>> {
  const { into } = options
  const total = layers.reduce((sum, { size }) => sum + size, 0)
  const missing = new Set(options.files)
  const files: Record<string, ExtractedFile> = {}
  let before = 0
  for (const [at, layer] of [...layers.entries()].reverse()) {
    if (missing.size === 0) break
    const path = join(folder, fileName(layer))
    await repository.download(layer, path, (size) => options.onProgress?.({ bytes: before + size, total }))
    before += layer.size
    const request = { ...options, layer, path, diffId: diffIds[at] ?? '', wanted: [...missing] }
    const { found, hidden } = await extractLayer(request)
    for (const [inImage, file] of found) {
      files[inImage] = await name(file, join(into, basename(inImage)))
      missing.delete(inImage)
    }
    const gone = [...hidden].find((inImage) => missing.has(inImage))
    if (gone !== undefined) throw new OciError('OCI_ARCHIVE_FILE_REMOVED', `the image has removed ${gone}`)
  }
  const [absent] = missing
  if (absent !== undefined) throw new OciError('OCI_ARCHIVE_FILE_MISSING', `the image has no ${absent}`)
  return files
}

/** A pull that was killed may have left half of a file, or layers of what a tag named then. */
async function keepOnly(into: string, folder: string, layers: readonly Descriptor[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const entry of await readdir(into)) {
    if (entry !== basename(folder)) await rm(join(into, entry), { recursive: true, force: true })
  }
  const ours = new Set(layers.map(fileName))
  for (const entry of await readdir(folder)) {
    if (!ours.has(entry)) await rm(join(folder, entry), { recursive: true, force: true })
  }
}

function fileName({ digest }: Descriptor): string {
  return digest.replace('sha256:', '')
}

async function name(file: ExtractedFile, path: string): Promise<ExtractedFile> {
  await rename(file.path, path)
  return { ...file, path }
}

function checkLayers(layers: readonly Descriptor[], diffIds: readonly string[], limits: PullLimits): void {
  if (layers.length > limits.maxLayers) throw new OciError('OCI_MANIFEST_INVALID', `${layers.length} layers`)
  if (layers.length !== diffIds.length)
    throw new OciError('OCI_MANIFEST_INVALID', 'layers and diff_ids differ in number')
  const large = layers.find(({ size }) => size > limits.maxLayerBytes)
  if (large) throw new OciError('OCI_TOO_LONG', `a layer of ${large.size} bytes`)
}
