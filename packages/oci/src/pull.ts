import { rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Clock, type ImageReference } from '@upgrade-hub/core'
import { OciError } from './errors.ts'
import { type ExtractedFile, extractLayer } from './layer.ts'
import {
  choosePlatform,
  type Descriptor,
  type Manifest,
  type Platform,
  parseDiffIds,
  parseManifest,
  platformName,
} from './manifest.ts'
import { Registry } from './registry.ts'
import type { PullLimits, RegistrySettings } from './settings.ts'

export interface PullOptions {
  readonly image: ImageReference
  /** The index or manifest that has been pinned: then no tag is looked at. */
  readonly digest?: string
  /** `{os}/{arch}[/{variant}]` → the manifest that must be found for it. */
  readonly digests?: Readonly<Record<string, string>>
  readonly platform: Platform
  /** Absolute paths in the image; each must be a regular file, and their last parts must differ. */
  readonly files: readonly string[]
  /** A folder that is there; the files get the last part of their paths as names. */
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
 * found, each byte checked against the digest that named it. Files are fsynced; nothing else is written.
 * @throws OciError, or the signal's reason when it aborts
 */
export async function pullImage(options: PullOptions): Promise<PulledImage> {
  const { clock, limits } = options
  const deadline = new AbortController()
  const timer = clock.after(limits.deadlineMs, () =>
    deadline.abort(new OciError('DownloadTimeout', `not done after ${limits.deadlineMs / 1000} s`)),
  )
  const signal = AbortSignal.any([options.signal, deadline.signal])
  const { registry: name, repository } = options.image
  const registry = new Registry({
    registry: name,
    repository,
    settings: options.registry,
    limits,
    clock,
    signal,
  })
  try {
    return await pull(options, registry)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error
  } finally {
    timer.cancel()
    await registry.close()
  }
}

async function pull(options: PullOptions, registry: Registry): Promise<PulledImage> {
  const { image, digest, platform } = options
  const reference = digest ?? image.digest ?? image.tag ?? 'latest'
  const first = await registry.manifest(reference)
  const { manifest, manifestDigest } = await resolve(registry, first, platform)
  const wanted = options.digests?.[platformName(platform)]
  if (wanted !== undefined && wanted !== manifestDigest) {
    throw new OciError(
      'DigestMismatch',
      `the image for ${platformName(platform)} is ${manifestDigest}, not ${wanted}`,
    )
  }
  const files = await pullFiles(options, registry, manifest)
  return { indexDigest: first.digest, manifestDigest, platform, files }
}

type ImageManifest = Extract<Manifest, { kind: 'image' }>

async function resolve(
  registry: Registry,
  first: { text: string; digest: string; contentType: string },
  platform: Platform,
): Promise<{ manifest: ImageManifest; manifestDigest: string }> {
  const parsed = parseManifest(first.text, first.contentType)
  if (parsed.kind === 'image') return { manifest: parsed, manifestDigest: first.digest }
  const entry = choosePlatform(parsed.manifests, platform)
  const { text, digest, contentType } = await registry.manifest(entry.digest)
  const manifest = parseManifest(text, contentType)
  if (manifest.kind !== 'image') throw new OciError('BadArchive', 'an index that names an index')
  return { manifest, manifestDigest: digest }
}

async function pullFiles(
  options: PullOptions,
  registry: Registry,
  { config, layers }: ImageManifest,
): Promise<Readonly<Record<string, ExtractedFile>>> {
  const { limits, into } = options
  const diffIds = parseDiffIds(await registry.smallBlob(config))
  checkLayers(layers, diffIds, limits)
  const total = layers.reduce((sum, { size }) => sum + size, 0)
  const missing = new Set(options.files)
  const files: Record<string, ExtractedFile> = {}
  let before = 0
  for (const [at, layer] of [...layers.entries()].reverse()) {
    if (missing.size === 0) break
    const { found, hidden } = await registry.blob(layer, (body) => {
      let bytes = before
      const onBytes = (more: number) => options.onProgress?.({ bytes: (bytes += more), total })
      return extractLayer(body, {
        layer,
        diffId: diffIds[at] ?? '',
        wanted: [...missing],
        into,
        limits,
        onBytes,
      })
    })
    for (const [path, file] of found) {
      files[path] = await name(file, join(into, basename(path)))
      missing.delete(path)
    }
    const gone = [...hidden].find((path) => missing.has(path))
    if (gone !== undefined) throw new OciError('BadArchive', `the image has removed ${gone}`)
    before += layer.size
  }
  const [absent] = missing
  if (absent !== undefined) throw new OciError('BadArchive', `the image has no ${absent}`)
  return files
}

async function name(file: ExtractedFile, path: string): Promise<ExtractedFile> {
  await rename(file.path, path)
  return { ...file, path }
}

function checkLayers(layers: readonly Descriptor[], diffIds: readonly string[], limits: PullLimits): void {
  if (layers.length > limits.maxLayers) throw new OciError('BadArchive', `${layers.length} layers`)
  if (layers.length !== diffIds.length)
    throw new OciError('BadArchive', 'layers and diff_ids differ in number')
  const large = layers.find(({ size }) => size > limits.maxLayerBytes)
  if (large) throw new OciError('BadArchive', `a layer of ${large.size} bytes`)
}
