import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { extract, type Header } from 'tar-stream'
import { OciError } from './errors.ts'
import { HashedFile } from './hashed-file.ts'
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

interface SinkOptions {
  readonly wanted: readonly string[]
  readonly into: string
  readonly limits: PullLimits
}

const MAX_NAME_BYTES = 4096

/** Takes the entries of one archive, one after the other. */
export class LayerSink {
  readonly tar = extract()
  readonly done: Promise<void>
  readonly #options: SinkOptions
  readonly #wanted: ReadonlySet<string>
  readonly #found = new Map<string, ExtractedFile>()
  readonly #hidden = new Set<string>()
  #entries = 0

  constructor(options: SinkOptions) {
    this.#options = options
    this.#wanted = new Set(options.wanted)
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
      const { maxEntries } = this.#options.limits
      if (++this.#entries > maxEntries)
        throw new OciError('OCI_ARCHIVE_TOO_MANY_ENTRIES', `more than ${maxEntries} entries`)
      const path = imagePath(entry.header.name)
      this.#hide(path, entry.header)
      if (this.#wanted.has(path)) await this.#keep(path, entry.header, entry as AsyncIterable<Buffer>)
      else entry.resume()
    }
  }

  async #keep(path: string, header: Header, content: AsyncIterable<Buffer>): Promise<void> {
    const { into, limits } = this.#options
    if (header.type !== 'file' && header.type !== 'contiguous-file')
      throw new OciError(
        'OCI_ARCHIVE_NOT_REGULAR',
        `${path} is a ${header.type ?? 'thing'}, not a regular file`,
      )
    if (this.#found.has(path)) throw new OciError('OCI_ARCHIVE_DUPLICATE', `${path} is in one layer twice`)
    if ((header.size ?? 0) > limits.maxFileBytes)
      throw new OciError('OCI_ARCHIVE_FILE_TOO_LARGE', `${path} has ${header.size} bytes`)
    const target = join(into, `${basename(path)}.${randomUUID()}`)
    const file = await HashedFile.create(target)
    const kept = () => ({
      path: target,
      sha256: file.sha256(),
      size: file.size,
      mode: (header.mode ?? 0o755) & 0o777,
    })
    this.#found.set(path, kept())
    try {
      await file.append(content)
      await file.sync()
      this.#found.set(path, kept())
    } finally {
      await file.close()
    }
  }

  /**
   * What a whiteout removes, and what lies below something that is no folder here, is not in the image whatever the layers
   * below have. @see https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
   */
  #hide(path: string, { type }: Header): void {
    const name = basename(path)
    const isWhiteout = name.startsWith('.wh.')
    if (!isWhiteout && type === 'directory') return
    const folder = path.slice(0, path.length - name.length)
    const gone =
      name === '.wh..wh..opq' ? folder : isWhiteout ? `${folder}${name.slice('.wh.'.length)}` : path
    const below = gone.endsWith('/') ? gone : `${gone}/`
    for (const wanted of this.#wanted) {
      if (!wanted.startsWith(below) && !(isWhiteout && wanted === gone)) continue
      if (!isWhiteout)
        throw new OciError('OCI_ARCHIVE_NOT_REGULAR', `${path}, above ${wanted}, is a ${type ?? 'thing'}`)
      this.#hidden.add(wanted)
    }
  }
}

/**
 * An entry's name as an absolute path. No builder writes a name that climbs or has a NUL in it: who does has a plan.
 * @throws OciError OCI_ARCHIVE_BAD_NAME
 */
function imagePath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..') || name.includes('\0') || Buffer.byteLength(name) > MAX_NAME_BYTES)
    throw new OciError('OCI_ARCHIVE_BAD_NAME', `an entry is called ${JSON.stringify(name.slice(0, 100))}`)
  return `/${parts.join('/')}`
}

/** What Node and streamx both say when the next stream of a pipeline went away. */
function isPrematureClose(error: unknown): boolean {
  return error instanceof Error && error.message === 'Premature close'
}
