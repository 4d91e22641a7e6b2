import { createHash, type Hash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { OciError } from './errors.ts'
import type { Descriptor } from './manifest.ts'
import type { PullLimits } from './settings.ts'

/** A regular file of an image, on disk and verified. */
export interface ExtractedFile {
  readonly path: string
  readonly sha256: string
  readonly size: number
  /** Permission bits that the archive says, without setuid, setgid and sticky. */
  readonly mode: number
}

/** What a layer says about the wanted files: here it is, or everything below is hidden. */
export interface LayerFindings {
  readonly found: ReadonlyMap<string, ExtractedFile>
  readonly hidden: ReadonlySet<string>
}

export interface LayerRequest {
  readonly layer: Descriptor
  readonly diffId: string
  /** Absolute paths in the image. */
  readonly wanted: readonly string[]
  readonly into: string
  readonly limits: PullLimits
  readonly onBytes: (bytes: number) => void
}

/**
 * Reads a layer to its last byte, checks both digests (as it travelled and unpacked) and keeps the wanted regular files.
 * Nothing else of the archive touches the disk; when anything is wrong nothing of it stays.
 * @throws OciError DigestMismatch or BadArchive
 */
export async function extractLayer(
  body: AsyncIterable<Buffer>,
  request: LayerRequest,
): Promise<LayerFindings> {
  const sink = new LayerSink(request)
  const packed = createHash('sha256')
  const unpacked = createHash('sha256')
  const { layer, limits, diffId } = request
  try {
    await pipeline([
      Readable.from(body, { objectMode: false }),
      tap(packed, layer.size, 'the layer is longer than its manifest says', request.onBytes),
      ...decompressor(layer.mediaType),
      tap(unpacked, limits.maxUnpackedBytes, 'the layer unpacks to too much'),
      sink.tar,
    ])
    await sink.done
    check(`sha256:${packed.digest('hex')}`, layer.digest)
    check(`sha256:${unpacked.digest('hex')}`, diffId)
    return sink.findings()
  } catch (error) {
    throw archiveError((await sink.drop(error)) ?? error)
  }
}

function decompressor(mediaType: string): Transform[] {
  if (/tar\+gzip$|\.tar\.gzip$/.test(mediaType)) return [createGunzip()]
  if (/tar\+zstd$|\.tar\.zstd$/.test(mediaType)) return [createZstdDecompress()]
  if (/\.tar$|layer\.v1\.tar$/.test(mediaType)) return []
  throw new OciError('BadArchive', `a layer of the type ${mediaType.slice(0, 100)}`)
}

function tap(hash: Hash, cap: number, message: string, onBytes?: (bytes: number) => void): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > cap) return done(new OciError('BadArchive', message))
      hash.update(chunk)
      onBytes?.(chunk.length)
      done(null, chunk)
    },
  })
}

/** Takes the entries of one archive, one after the other. */
class LayerSink {
  readonly tar = extract()
  readonly done: Promise<void>
  readonly #request: LayerRequest
  readonly #wanted: ReadonlySet<string>
  readonly #found = new Map<string, ExtractedFile>()
  readonly #hidden = new Set<string>()
  #entries = 0

  constructor(request: LayerRequest) {
    this.#request = request
    this.#wanted = new Set(request.wanted)
    this.done = this.#consume()
    // The pipeline reports what goes wrong first; this must not be an unhandled rejection meanwhile.
    this.done.catch(() => undefined)
  }

  findings(): LayerFindings {
    return { found: this.#found, hidden: this.#hidden }
  }

  /**
   * Removes everything that was kept. @returns what the sink itself had against the archive: the pipeline then saw only
   * that the sink went away
   */
  async drop(error: unknown): Promise<unknown> {
    this.tar.destroy()
    const own: unknown = await this.done.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    for (const { path } of this.#found.values()) await rm(path, { force: true })
    return isPrematureClose(error) ? own : undefined
  }

  async #consume(): Promise<void> {
    for await (const entry of this.tar) {
      const { maxEntries } = this.#request.limits
      if (++this.#entries > maxEntries) throw new OciError('BadArchive', `more than ${maxEntries} entries`)
      const path = plainPath(entry.header.name)
      this.#hide(path)
      if (this.#wanted.has(path)) await this.#keep(path, entry.header, entry as AsyncIterable<Buffer>)
      else entry.resume()
    }
  }

  async #keep(path: string, header: Header, content: AsyncIterable<Buffer>): Promise<void> {
    const { into, limits } = this.#request
    if (header.type !== 'file' && header.type !== 'contiguous-file') {
      throw new OciError('BadArchive', `${path} is a ${header.type ?? 'thing'}, not a regular file`)
    }
    if (this.#found.has(path)) throw new OciError('BadArchive', `${path} is in one layer twice`)
    if ((header.size ?? 0) > limits.maxFileBytes) throw new OciError('BadArchive', `${path} is too large`)
    const target = join(into, `${basename(path)}.${randomUUID()}`)
    const file = await open(
      target,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    )
    const mode = (header.mode ?? 0o755) & 0o777
    this.#found.set(path, { path: target, sha256: '', size: 0, mode })
    try {
      const { sha256, size } = await writeAll(file, content)
      this.#found.set(path, { path: target, sha256, size, mode })
    } finally {
      await file.close()
    }
  }

  /** Whiteouts. @see https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts */
  #hide(path: string): void {
    const name = basename(path)
    if (!name.startsWith('.wh.')) return
    const folder = path.slice(0, path.length - name.length)
    const gone = name === '.wh..wh..opq' ? folder : `${folder}${name.slice('.wh.'.length)}`
    for (const wanted of this.#wanted) {
      if (wanted === gone || wanted.startsWith(gone.endsWith('/') ? gone : `${gone}/`))
        this.#hidden.add(wanted)
    }
  }
}

/**
 * An entry's name as an absolute path, only when it is plain: no `..`, no empty part, no backslash, no NUL. Anything else
 * cannot be a wanted file and is never interpreted.
 */
function plainPath(name: string): string {
  const parts = name
    .replace(/^\.?\//, '')
    .replace(/\/$/, '')
    .split('/')
  const strange = parts.some((part) => part === '' || part === '.' || part === '..' || /[\0\\]/.test(part))
  return strange ? '' : `/${parts.join('/')}`
}

async function writeAll(
  file: FileHandle,
  content: AsyncIterable<Buffer>,
): Promise<{ sha256: string; size: number }> {
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of content) {
    hash.update(chunk)
    size += chunk.length
    await file.writeFile(chunk)
  }
  await file.sync()
  return { sha256: hash.digest('hex'), size }
}

function check(found: string, wanted: string): void {
  if (found !== wanted) throw new OciError('DigestMismatch', `a layer is ${found}, not ${wanted}`)
}

/** What Node and streamx both say when the next stream of a pipeline went away. */
function isPrematureClose(error: unknown): boolean {
  return error instanceof Error && error.message === 'Premature close'
}

/** tar and zlib throw plain errors for what is broken; the connection's errors stay as they are, to be tried again. */
function archiveError(error: unknown): unknown {
  if (error instanceof OciError || !(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const broken = /^(Z_|ERR_ZSTD|ZSTD)/.test(code) || /tar header|end of data|Invalid tar/i.test(error.message)
  return broken
    ? new OciError('BadArchive', `the layer is no archive: ${error.message}`, { cause: error })
    : error
}
