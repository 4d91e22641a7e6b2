import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { OciError } from './errors.ts'
import { type LayerFindings, LayerSink } from './layer-sink.ts'
import type { Descriptor } from './manifest.ts'
import type { PullLimits } from './settings.ts'

/** A large read costs few crossings; a layer is read once. */
const READ_BYTES = 512 * 1024

export interface LayerRequest {
  readonly layer: Descriptor
  /** The layer as it travels, verified already. */
  readonly path: string
  readonly diffId: string
  /** Absolute paths in the image. */
  readonly wanted: readonly string[]
  readonly into: string
  readonly limits: PullLimits
  readonly signal: AbortSignal
}

/**
 * Reads a layer to its last byte, checks the digest of what it unpacks to, and keeps the wanted regular files. Nothing else
 * of the archive touches the disk; when anything is wrong nothing of it stays.
 * @throws OciError OCI_DIGEST_MISMATCH or OCI_ARCHIVE_…
 */
export async function extractLayer(request: LayerRequest): Promise<LayerFindings> {
  const { layer, limits, diffId, path, signal } = request
  const sink = new LayerSink(request)
  const unpack = decompressor(layer.mediaType)
  // A plain layer is what it unpacks to, and has been hashed already.
  const unpacked = unpack.length === 0 ? undefined : createHash('sha256')
  try {
    await pipeline(
      [
        createReadStream(path, { highWaterMark: READ_BYTES }),
        ...unpack,
        counting(unpacked, limits.maxUnpackedBytes),
        sink.tar,
      ],
      { signal },
    )
    await sink.done
    const digest = unpacked ? `sha256:${unpacked.digest('hex')}` : layer.digest
    if (digest !== diffId)
      throw new OciError('OCI_DIGEST_MISMATCH', `a layer unpacks to ${digest}, not ${diffId}`)
    return sink.findings()
  } catch (error) {
    throw archiveError((await sink.drop(error)) ?? error)
  }
}

function decompressor(mediaType: string): Transform[] {
  if (/tar\+gzip$|\.tar\.gzip$/.test(mediaType)) return [createGunzip()]
  if (/tar\+zstd$|\.tar\.zstd$/.test(mediaType)) return [createZstdDecompress()]
  if (mediaType.endsWith('.tar')) return []
  throw new OciError('OCI_MANIFEST_INVALID', `a layer of the type ${mediaType.slice(0, 100)}`)
}

function counting(hash: Hash | undefined, cap: number): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > cap)
        return done(new OciError('OCI_ARCHIVE_TOO_LARGE', `a layer unpacks to more than ${cap} bytes`))
      hash?.update(chunk)
      done(null, chunk)
    },
  })
}

/** tar and zlib throw plain errors for what is broken; what the disk says stays as it is. */
function archiveError(error: unknown): unknown {
  if (error instanceof OciError || !(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const broken = /^(Z_|ERR_ZSTD|ZSTD)/.test(code) || /tar header|end of data|Invalid tar/i.test(error.message)
  if (!broken) return error
  return new OciError('OCI_ARCHIVE_BROKEN', `the layer is no archive: ${error.message}`, { cause: error })
}
