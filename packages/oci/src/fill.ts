import { OciError } from './errors.ts'
import type { HashedFile } from './hashed-file.ts'
import type { Descriptor } from './manifest.ts'
import type { Answer, SourceClient } from './source.ts'

/**
 * Makes a file whole by one request, from where it ends. Nothing that the server says about lengths is believed:
 * size and digest of the file are the proof. @throws OciError; `retry` says whether what is there is worth another try
 */
export async function fillFrom(
  client: SourceClient,
  file: HashedFile,
  blob: Descriptor,
  onSize: (bytes: number) => void,
): Promise<void> {
  if (file.size === blob.size && `sha256:${file.sha256()}` === blob.digest) return onSize(file.size)
  if (file.size >= blob.size) await file.restart()
  const answer = await client.get(`blobs/${blob.digest}`, rangeFrom(file.size))
  const resumed = await continues(answer, file, blob)
  // The file grows behind what arrives, so how much it had is fixed here.
  const had = file.size
  await file.append(counted(answer.body, blob.size - had, (more) => onSize(had + more)))
  if (file.size < blob.size) throw new OciError('OCI_UNREACHABLE', tooShort(file, blob), { retry: 'backoff' })
  const digest = `sha256:${file.sha256()}`
  if (digest === blob.digest) return
  await file.restart()
  // What came in pieces may be of two minds; once, from its start, it is asked for again.
  const retry = resumed ? 'backoff' : 'never'
  throw new OciError('OCI_DIGEST_MISMATCH', `the registry sent ${digest} for ${blob.digest}`, { retry })
}

function rangeFrom(size: number): Record<string, string> {
  return size === 0 ? {} : { range: `bytes=${size}-` }
}

/** True when the answer goes on where the file ends; the file is empty when the answer is the whole blob instead. */
async function continues(answer: Answer, file: HashedFile, blob: Descriptor): Promise<boolean> {
  const { status, headers } = answer
  const from = file.size
  const range = /^bytes (?<start>\d+)-\d+\/(?<total>\d+|\*)$/.exec(headers['content-range'] ?? '')?.groups
  const fits = Number(range?.['start']) === from && ['*', String(blob.size)].includes(range?.['total'] ?? '')
  if (status === 206 && fits) return true
  if (from > 0) await file.restart()
  if (status === 200) return false
  answer.discard()
  throw new OciError('OCI_UNREACHABLE', `the registry answers ${status} to a range from ${from}`, {
    retry: 'backoff',
  })
}

async function* counted(body: AsyncIterable<Buffer>, cap: number, onBytes: (bytes: number) => void) {
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > cap) throw new OciError('OCI_TOO_LONG', 'the blob is longer than its manifest says')
    onBytes(size)
    yield chunk
  }
}

function tooShort(file: HashedFile, blob: Descriptor): string {
  return `the registry ended after ${file.size} of ${blob.size} bytes`
}
