import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import type { Descriptor, Platform } from '../manifest.ts'

/** An entry of a layer, as hostile as a test wants it. */
export interface Entry extends Partial<Header> {
  readonly name: string
  readonly content?: string | Buffer
}

export type Compression = 'gzip' | 'zstd' | 'none'

/** A layer as a manifest and a config name it. */
export interface Layer {
  readonly descriptor: Descriptor
  readonly diffId: string
}

const OCI = 'application/vnd.oci.image'
const LAYER_TYPES = {
  gzip: `${OCI}.layer.v1.tar+gzip`,
  zstd: `${OCI}.layer.v1.tar+zstd`,
  none: `${OCI}.layer.v1.tar`,
} as const
const PACKERS = { gzip: gzipSync, zstd: zstdCompressSync, none: (data: Buffer) => data } as const

/** Images in memory: what a registry has. */
export class ImageStore {
  readonly blobs = new Map<string, { readonly data: Buffer; readonly type: string }>()
  readonly tags = new Map<string, string>()

  add(data: Buffer, type: string): Descriptor {
    const digest = digestOf(data)
    this.blobs.set(digest, { data, type })
    return { mediaType: type, digest, size: data.length }
  }

  async layer(entries: readonly Entry[], compression: Compression = 'gzip'): Promise<Layer> {
    return this.rawLayer(await archive(entries), compression)
  }

  rawLayer(tar: Buffer, compression: Compression = 'gzip'): Layer {
    const descriptor = this.add(Buffer.from(PACKERS[compression](tar)), LAYER_TYPES[compression])
    return { descriptor, diffId: digestOf(tar) }
  }

  image(
    layers: readonly Layer[],
    change: (manifest: Record<string, unknown>) => { mediaType?: unknown } = (same) => same,
    platform: { os?: string; architecture?: string } = {},
  ): Descriptor {
    const rootfs = { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) }
    const config = this.#json({ ...platform, rootfs }, `${OCI}.config.v1+json`)
    const mediaType = `${OCI}.manifest.v1+json`
    const manifest = {
      schemaVersion: 2,
      mediaType,
      config,
      layers: layers.map(({ descriptor }) => descriptor),
    }
    const changed = change(manifest)
    return this.#json(changed, String(changed.mediaType))
  }

  index(
    images: readonly { readonly image: Descriptor; readonly platform: Platform }[],
    mediaType = `${OCI}.index.v1+json`,
  ): Descriptor {
    const manifests = images.map(({ image, platform: { os, arch, variant } }) => ({
      ...image,
      platform: { os, architecture: arch, ...(variant ? { variant } : {}) },
    }))
    return this.#json({ schemaVersion: 2, mediaType, manifests }, mediaType)
  }

  /** The usual case: one layer with these files, for one platform, behind a tag. @returns the index's digest */
  async publish(tag: string, entries: readonly Entry[], platform: Platform = HOST): Promise<string> {
    const image = this.image([await this.layer(entries)])
    const { digest } = this.index([{ image, platform }])
    this.tags.set(tag, digest)
    return digest
  }

  #json(value: object, type: string): Descriptor {
    return this.add(Buffer.from(JSON.stringify(value)), type)
  }
}

/** The platform that these tests run on. */
export const HOST: Platform = { os: process.platform, arch: process.arch === 'x64' ? 'amd64' : process.arch }

export function digestOf(data: Buffer): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`
}

/** A tar archive. */
export async function archive(entries: readonly Entry[]): Promise<Buffer> {
  const tar = pack()
  for (const { content, ...header } of entries) tar.entry({ mode: 0o755, ...header }, content ?? '')
  tar.finalize()
  return buffer(tar)
}
