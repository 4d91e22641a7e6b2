import { KubeError } from './errors.ts'

const NEWLINE = 0x0a

/**
 * The whole lines of a stream, as text. What follows the last newline is half a line and is dropped: whoever reads on
 * after a break gets it again. One reader, one loop: nothing here can overtake anything else.
 * @throws KubeError (KUBE_BAD_ANSWER) for a line above `maxBytes`, and whatever the stream throws
 */
export async function* lines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const tail = chunk.subarray(start, end)
      yield parts.length === 0 ? tail.toString('utf8') : Buffer.concat([...parts, tail]).toString('utf8')
      parts = []
      length = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > maxBytes) throw new KubeError('KUBE_BAD_ANSWER', `a line is longer than ${maxBytes} bytes`)
  }
}
