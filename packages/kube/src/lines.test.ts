import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lines } from './lines.ts'

async function* chunked(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const end = at + (sizes[i % sizes.length] ?? 1)
    yield bytes.subarray(at, end)
    at = end
  }
}

describe('lines', () => {
  it('are the same wherever the network cut them, also inside a character', async () => {
    const texts = fc.array(fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ' ')))
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(texts, sizes, async (expected, cuts) => {
        const text = expected.map((line) => `${line}\n`).join('')
        const wellFormed = expected.map((line) => line.toWellFormed())
        expect(await Array.fromAsync(lines(chunked(text, cuts), 1_000_000))).toEqual(wellFormed)
      }),
    )
  })

  it('that have no end are not told', async () => {
    expect(await Array.fromAsync(lines(chunked('a\nhalf', [3]), 100))).toEqual(['a'])
  })

  it('that are too long are an error, before they fill the memory', async () => {
    await expect(Array.fromAsync(lines(chunked('x'.repeat(200), [10]), 100))).rejects.toThrow(
      'longer than 100 bytes',
    )
  })
})
