import { createHash, type Hash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW
const NEW = FLAGS | constants.O_EXCL
/** Enough that a write costs little beside its bytes, little enough for any node's memory. */
const BATCH_BYTES = 1024 * 1024

/** A file that grows, with the hash of all that it has. One writer at a time. */
export class HashedFile {
  readonly #file: FileHandle
  #hash: Hash
  #size = 0

  private constructor(file: FileHandle, hash: Hash) {
    this.#file = file
    this.#hash = hash
  }

  /** Makes a file that must not be there. */
  static async create(path: string): Promise<HashedFile> {
    return new HashedFile(await open(path, NEW, 0o600), createHash('sha256'))
  }

  /** Opens what an earlier process has left, if it did; every byte of it is hashed again. */
  static async open(path: string, maxBytes: number): Promise<HashedFile> {
    const file = await open(path, FLAGS, 0o600)
    const hashed = new HashedFile(file, createHash('sha256'))
    try {
      await hashed.#adopt(maxBytes)
      return hashed
    } catch (error) {
      await file.close()
      throw error
    }
  }

  get size(): number {
    return this.#size
  }

  /** Of what is there now, in hex. */
  sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Forgets all of it. */
  async restart(): Promise<void> {
    await this.#file.truncate(0)
    this.#hash = createHash('sha256')
    this.#size = 0
  }

  /** Appends chunks while they come; while one batch is written the next is read. What came before an error stays. */
  async append(chunks: AsyncIterable<Buffer>): Promise<void> {
    let batch: Buffer[] = []
    let bytes = 0
    let written: Promise<unknown> = Promise.resolve()
    const flush = async () => {
      const data = Buffer.concat(batch)
      batch = []
      bytes = 0
      await written
      written = this.#write(data)
      // It is awaited below; meanwhile it must not count as unhandled.
      written.catch(() => undefined)
    }
    try {
      for await (const chunk of chunks) {
        batch.push(chunk)
        if ((bytes += chunk.length) >= BATCH_BYTES) await flush()
      }
    } finally {
      await flush()
      await written
    }
  }

  /** What is there survives a power cut. */
  async sync(): Promise<void> {
    await this.#file.sync()
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  async #write(data: Buffer): Promise<void> {
    const at = this.#size
    this.#hash.update(data)
    this.#size += data.length
    for (let done = 0; done < data.length; ) {
      const { bytesWritten } = await this.#file.write(data, done, data.length - done, at + done)
      done += bytesWritten
    }
  }

  async #adopt(maxBytes: number): Promise<void> {
    const { size } = await this.#file.stat()
    if (size > maxBytes) return this.restart()
    const stream = this.#file.createReadStream({ autoClose: false, start: 0, highWaterMark: BATCH_BYTES })
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      this.#hash.update(chunk)
      this.#size += chunk.length
    }
  }
}
