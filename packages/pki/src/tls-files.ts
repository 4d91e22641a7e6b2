import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { type Clock, type Logger, messageOf } from '@upgrade-hub/core'
import { PkiError } from './errors.ts'

/** Where the three PEM files of a TLS peer are. */
export interface TlsFiles {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

/** Their contents; what `node:tls` takes. */
export interface TlsMaterial {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

const MAX_PEM_BYTES = 256 * 1024

/**
 * Reads the three files and proves that they work together. A rotation that was caught half done is an error, so the
 * caller keeps what it had. @throws PkiError PKI_TLS_FILES
 */
export async function readTlsFiles(files: TlsFiles): Promise<TlsMaterial> {
  try {
    const [ca, cert, key] = await Promise.all([readPem(files.ca), readPem(files.cert), readPem(files.key)])
    createSecureContext({ ca, cert, key })
    return { ca, cert, key }
  } catch (cause) {
    const message = `${files.cert}, ${files.key} and ${files.ca} do not make a TLS identity: ${messageOf(cause)}`
    throw new PkiError('PKI_TLS_FILES', message, { retry: 'backoff', cause })
  }
}

/**
 * Looks at the files every `everyMs` and calls `apply` with the new contents after a change, until the signal aborts.
 * A change that does not read or does not apply is logged and tried again at the next look.
 */
export async function followTlsFiles(options: {
  files: TlsFiles
  apply: (material: TlsMaterial) => void
  everyMs: number
  clock: Clock
  log: Logger
  signal: AbortSignal
}): Promise<void> {
  const { files, apply, everyMs, clock, log, signal } = options
  let seen = await marksOf(files)
  while (await sleepUnlessAborted(clock, everyMs, signal)) {
    const marks = await marksOf(files)
    if (marks === seen) continue
    try {
      apply(await readTlsFiles(files))
      seen = marks
      log.info({ cert: files.cert }, 'certificate re-read')
    } catch (error) {
      log.warn(
        { cert: files.cert, error: messageOf(error) },
        'changed certificate not usable, the old one stays',
      )
    }
  }
}

async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal)
  } catch {
    return false
  }
  return !signal.aborted
}

/** Inode and change time see a rename over the file as well as a write into it. */
async function marksOf(files: TlsFiles): Promise<string> {
  const marks = await Promise.all(
    [files.ca, files.cert, files.key].map(async (path) => {
      const found = await stat(path, { bigint: true }).catch(() => undefined)
      return found ? `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}` : 'absent'
    }),
  )
  return marks.join(' ')
}

async function readPem(path: string): Promise<string> {
  const { size } = await stat(path)
  if (size > MAX_PEM_BYTES) throw new PkiError('PKI_TLS_FILES', `${path} has ${size} bytes`)
  return readFile(path, 'utf8')
}
