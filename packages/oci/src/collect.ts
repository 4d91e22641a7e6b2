import { OciError } from './errors.ts'

/** All that comes, `cap` bytes at most; `sender` is who the message names. @throws OciError OCI_TOO_LONG */
export async function collect(
  body: AsyncIterable<Buffer>,
  cap: number,
  sender = 'the registry',
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > cap) throw new OciError('OCI_TOO_LONG', `${sender} sent more than ${cap} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
