import { describe, expect, it } from 'vitest'
import { bar } from './bar.ts'
import { clean, cleanLine } from './clean.ts'
import { cut, table } from './table.ts'
import { terminalOf } from './terminal.ts'
import { ageOf, span } from './time.ts'

describe('text for a terminal', () => {
  it('has room on a line that does not know its size', () => {
    const out = { isTTY: true, columns: 0, rows: 0, write: () => true }
    const { columns, rows } = terminalOf({ out, err: out, isPlain: true, isUnicode: true }).size()
    expect([columns, rows]).toEqual([120, 40])
  })

  it('obeys nothing that a node or another controller said (S39)', () => {
    expect(clean('a\u001b[2Jb\u009b31mc\rd\u202ee\tf\ng')).toBe('a\ufffd[2Jb\ufffd31mc\ufffdd\ufffde\tf\ng')
    expect(cleanLine(' a \n\n b\tc ')).toBe('a b c')
    expect(cleanLine('x'.repeat(300), 10)).toBe('xxxxxxxxx…')
  })

  it('stands in columns, painted or not', () => {
    const lines = table(
      ['NAME', 'X'],
      [
        ['\u001b[31mred\u001b[39m', '1'],
        ['longer', ''],
      ],
    )
    expect(lines).toEqual(['NAME     X', '\u001b[31mred\u001b[39m      1', 'longer'])
  })

  it('is cut where the terminal ends, so that no line wraps', () => {
    expect(cut('\u001b[31mabcdef\u001b[39m', 4)).toBe('abc…')
    expect(cut('\u001b[31mabc\u001b[39m', 3)).toBe('\u001b[31mabc\u001b[39m')
  })

  it('is painted for a person only', () => {
    const stream = (isTTY: boolean) => ({ isTTY, write: () => true })
    const painted = (isTTY: boolean, isPlain: boolean) =>
      terminalOf({ out: stream(isTTY), err: stream(isTTY), isPlain, isUnicode: true }).paint('red', 'x')
    expect(painted(true, false)).toBe('\u001b[31mx\u001b[39m')
    expect([painted(false, false), painted(true, true)]).toEqual(['x', 'x'])
  })
})

describe('a bar', () => {
  it('is full at the end only', () => {
    expect([0, 0.5, 0.999, 1].map((share) => bar(share, 4, false))).toEqual([
      '[....]',
      '[##..]',
      '[###.]',
      '[####]',
    ])
    expect([0, 0.31, 1].map((share) => bar(share, 4, true))).toEqual(['░░░░', '█▏░░', '████'])
  })

  it('keeps its width whatever it is asked to show', () => {
    for (const share of [-1, 0.01, 0.49, 0.76, 2]) expect(bar(share, 7, true)).toHaveLength(7)
  })
})

describe('a span of time', () => {
  it.each([
    [-5, '0s'],
    [119_000, '119s'],
    [120_000, '2m'],
    [200_000, '3m20s'],
    [7_500_000, '125m'],
    [11_100_000, '3h5m'],
    [40 * 3_600_000, '40h'],
    [76 * 3_600_000, '3d4h'],
    [30 * 86_400_000, '30d'],
  ])('of %i ms reads %s', (ms, text) => {
    expect(span(ms)).toBe(text)
  })

  it('is empty without a time', () => {
    expect([ageOf(undefined, 0), ageOf('soon', 0), ageOf('1970-01-01T00:00:00Z', 1_000)]).toEqual([
      '',
      '',
      '1s',
    ])
  })
})
