import { createHash } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { collect } from './collect.ts'
import { OciError } from './errors.ts'
import { isOfSource, networkFailure } from './failures.ts'
import { fillFrom } from './fill.ts'
import { HashedFile } from './hashed-file.ts'
import { ACCEPT_MANIFESTS, type Descriptor } from './manifest.ts'
import { retrying } from './retry.ts'
import { type Session, SourceClient } from './source.ts'
import type { Source } from './sources.ts'

/** A manifest as it came, with the digest of what came. */
export interface RawManifest {
  readonly text: string
  readonly digest: string
  readonly contentType: string
}

/** One repository, asked at its sources in turn: one that fails is asked last from then on. */
export class Repository {
  readonly #session: Session
  readonly #clients: SourceClient[]

  /** `login` is the header of one who needs no challenge. */
  constructor(sources: readonly Source[], session: Session, login?: Readonly<Record<string, string>>) {
    this.#session = session
    this.#clients = sources.map((source) => new SourceClient(source, session, login))
  }

  /** A manifest by tag or digest. @throws OciError OCI_DIGEST_MISMATCH when no source has what was asked for */
  manifest(reference: string): Promise<RawManifest> {
    const { maxManifestBytes } = this.#session.limits
    return this.#fromAny(async (client) => {
      const { body, headers } = await client.get(`manifests/${reference}`, { accept: ACCEPT_MANIFESTS })
      const bytes = await collect(body, maxManifestBytes)
      const digest = digestOf(bytes)
      if (reference.startsWith('sha256:')) expectDigest(digest, reference)
      return { text: bytes.toString('utf8'), digest, contentType: headers['content-type'] ?? '' }
    })
  }

  /** A blob that fits into memory, verified. */
  smallBlob({ digest, size }: Descriptor): Promise<string> {
    if (size > this.#session.limits.maxManifestBytes)
      throw new OciError('OCI_MANIFEST_INVALID', `a config of ${size} bytes`)
    return this.#fromAny(async (client) => {
      const { body } = await client.get(`blobs/${digest}`, {})
      const bytes = await collect(body, size)
      expectDigest(digestOf(bytes), digest)
      return bytes.toString('utf8')
    })
  }

  /**
   * A blob in a file, verified. What an earlier call or process has left there is continued; after a failure, what has come
   * stays for the next call. `onSize` hears how large the file is.
   */
  async download(blob: Descriptor, path: string, onSize: (bytes: number) => void): Promise<void> {
    const file = await HashedFile.open(path, blob.size)
    try {
      await needSpace(path, blob.size - file.size)
      const progress = () => file.size
      await this.#fromAny((client) => fillFrom(client, file, blob, onSize), progress)
    } finally {
      await file.close()
    }
  }

  async #fromAny<T>(ask: (client: SourceClient) => Promise<T>, progress = () => 0): Promise<T> {
    const failures: OciError[] = []
    for (const client of [...this.#clients]) {
      try {
        return await retrying(() => ask(client), { ...this.#session, progress })
      } catch (error) {
        this.#session.signal.throwIfAborted()
        const failure = networkFailure(error)
        if (!isOfSource(failure)) throw failure
        failures.push(failure)
        this.#clients.push(...this.#clients.splice(this.#clients.indexOf(client), 1))
      }
    }
    throw summary(failures)
  }
}

/** One failure as it is; of several the last one, with what the others had to say. */
function summary(failures: readonly OciError[]): OciError {
  const last =
    failures.at(-1) ?? new OciError('OCI_NOT_ALLOWED', 'the registry has no mirror that may be asked')
  if (failures.length < 2) return last
  return new OciError(last.code, failures.map(({ message }) => message).join('; '), { cause: last })
}

async function needSpace(path: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path))
  const free = bavail * bsize
  if (free < bytes) throw new OciError('OCI_NO_SPACE', `a layer needs ${bytes} bytes, ${free} are free`)
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function expectDigest(found: string, wanted: string): void {
  if (found !== wanted) throw new OciError('OCI_DIGEST_MISMATCH', `the registry sent ${found} for ${wanted}`)
}
