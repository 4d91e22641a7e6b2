import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** Media types of the OCI image specification. */
export const MEDIA = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const

export interface Descriptor {
  mediaType: string
  digest: string
  size: number
  platform?: { os: string; architecture: string }
  annotations?: Record<string, string>
}

/** A file of an image: its path there, and what is in it. */
export interface ImageFile {
  readonly path: string
  readonly content: string
}

const REF = 'org.opencontainers.image.ref.name'
/** Node's names for architectures in the words of OCI. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm' }

/**
 * Writes an OCI image layout with one installation image a version, for this machine's platform.
 * @see https://github.com/opencontainers/image-spec/blob/main/image-layout.md
 */
export async function makeLayout(
  folder: string,
  versions: Readonly<Record<string, readonly ImageFile[]>>,
): Promise<void> {
  await mkdir(join(folder, 'blobs/sha256'), { recursive: true })
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  const manifests: Descriptor[] = []
  for (const [version, files] of Object.entries(versions)) {
    const index = await makeImage(folder, files)
    manifests.push({ ...index, annotations: { [REF]: version } })
  }
  await writeFile(
    join(folder, 'index.json'),
    JSON.stringify({ schemaVersion: 2, mediaType: MEDIA.index, manifests }),
  )
}

async function makeImage(folder: string, files: readonly ImageFile[]): Promise<Descriptor> {
  const platform = { os: 'linux', architecture: ARCHITECTURES[process.arch] ?? process.arch }
  const tar = await tarOf(files)
  const layer = await writeBlob(folder, MEDIA.layer, gzipSync(tar))
  const rootfs = { type: 'layers', diff_ids: [digestOf(tar)] }
  const config = await writeBlob(folder, MEDIA.config, JSON.stringify({ ...platform, rootfs, config: {} }))
  const manifest = { schemaVersion: 2, mediaType: MEDIA.manifest, config, layers: [layer] }
  const descriptor = { ...(await writeBlob(folder, MEDIA.manifest, JSON.stringify(manifest))), platform }
  const index = { schemaVersion: 2, mediaType: MEDIA.index, manifests: [descriptor] }
  return writeBlob(folder, MEDIA.index, JSON.stringify(index))
}

async function writeBlob(folder: string, mediaType: string, content: string | Buffer): Promise<Descriptor> {
  const bytes = Buffer.from(content)
  const digest = digestOf(bytes)
  await writeFile(join(folder, 'blobs', digest.replace(':', '/')), bytes)
  return { mediaType, digest, size: bytes.length }
}

async function tarOf(files: readonly ImageFile[]): Promise<Buffer> {
  const archive = pack()
  for (const file of files) {
    archive.entry({ name: file.path.replace(/^\//, ''), mode: 0o755, mtime: new Date(0) }, file.content)
  }
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
