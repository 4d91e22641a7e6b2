import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from './errors.ts'
import { decodeFrame, encodeFrame, UnsupportedOperation } from './frame.ts'
import { LIMITS } from './limits.ts'

const GOLDEN = new URL('../golden/v1/', import.meta.url)
const golden = readdirSync(GOLDEN).map((file) => [file, readFileSync(new URL(file, GOLDEN), 'utf8')] as const)

const codeOf = (text: string): string => {
  try {
    decodeFrame(text)
    return 'fine'
  } catch (error) {
    return error instanceof ProtocolError ? error.code : `not coded: ${String(error)}`
  }
}

describe('frames of version 1', () => {
  it.each(golden)('%s is understood for ever, and nothing in it is lost', (_file, text) => {
    const frame = decodeFrame(text)
    expect(frame.content).toEqual((JSON.parse(text) as { content: unknown }).content)
  })

  it.each(golden)('%s survives being written by this version', (_file, text) => {
    const { operation, resource, content } = decodeFrame(text)
    const written = encodeFrame({ operation, resource, content }, 'cloud', 1)
    expect(decodeFrame(written)).toMatchObject({ operation, resource, content })
  })

  it('keeps keys of a newer peer without looking at them', () => {
    const text = encodeFrame(
      { operation: 'goAway', content: { retryAfterSeconds: 1, mood: 'sad' } },
      'cloud',
      1,
    )
    expect(decodeFrame(text).content).toEqual({ retryAfterSeconds: 1, mood: 'sad' })
  })
})

describe('what a peer must not send', () => {
  it('is too big: refused before it is parsed, and never written by us', () => {
    const content = { retryAfterSeconds: 1, pad: 'x'.repeat(LIMITS.maxFrameBytes) }
    expect(() => encodeFrame({ operation: 'goAway', content }, 'cloud', 1)).toThrow(/at most/)
    expect(codeOf(JSON.stringify({ content }))).toBe('PROTOCOL_TOO_BIG')
  })

  it('is not JSON, or JSON of another shape', () => {
    for (const text of ['', '{', 'null', '[]', '"hello"', '{"header":{}}', '\u0000']) {
      expect(codeOf(text)).toMatch(/^PROTOCOL_(NOT_JSON|INVALID)$/)
    }
  })

  it('is an operation of another version, or a key of every object', () => {
    for (const operation of ['dance', 'constructor', '__proto__', 'toString']) {
      const text = encodeFrame({ operation, content: {} }, 'edge', 1)
      expect(() => decodeFrame(text)).toThrow(UnsupportedOperation)
    }
  })

  it('is nested deeper than anything of ours, and does no harm', () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    const text = golden[0]?.[1].replace(/"content": [\s\S]*$/, `"content": ${deep}}`) ?? ''
    expect(codeOf(text)).toBe('PROTOCOL_INVALID')
  })

  it('is any mutation of a good frame: a coded error or a frame, never another throw', () => {
    const mutation = fc.tuple(
      fc.nat(golden.length - 1),
      fc.nat(),
      fc.string({ maxLength: 8, unit: 'binary' }),
    )
    fc.assert(
      fc.property(mutation, ([index, at, insert]) => {
        const text = golden[index]?.[1] ?? ''
        const cut = at % text.length
        expect(codeOf(text.slice(0, cut) + insert + text.slice(cut + insert.length))).toMatch(
          /^(fine|PROTOCOL_)/,
        )
      }),
      { numRuns: 2000 },
    )
  })
})
