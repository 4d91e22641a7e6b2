import { describe, expect, it } from 'vitest'
import { judge, LAYERS, type Layer, type Report } from './layers.ts'
import { countsOf, tableOf } from './table.ts'

const [unit] = LAYERS as readonly [Layer]
const real = LAYERS.find(({ plane }) => plane === 'real') ?? unit
const fine: Report = { passed: 3, failed: [], skipped: [] }

function verdict(
  change: Partial<Report>,
  ended: { exitCode?: number; absent?: string; isCi?: boolean } = {},
) {
  const { exitCode = 0, isCi = false, ...rest } = ended
  return judge({ layer: real, report: { ...fine, ...change }, exitCode, seconds: 1, ...rest }, isCi)
}

describe('the verdict on a layer', () => {
  it('is a pass when all of its tests passed', () => {
    expect(verdict({})).toMatchObject({ passed: 3, failed: 0, skipped: 0, notes: [] })
  })

  it('counts and names every failed test', () => {
    expect(verdict({ failed: ['a', 'b'] }, { exitCode: 1 })).toMatchObject({
      failed: 2,
      notes: ['failed: a', 'failed: b'],
    })
  })

  it('is a failure when vitest fails although no test did', () => {
    expect(verdict({}, { exitCode: 1 }).failed).toBe(1)
  })

  it('is a failure when there was no test at all', () => {
    expect(verdict({ passed: 0 })).toMatchObject({ failed: 1, notes: ['there is no test in it'] })
  })

  it('is a failure when vitest died before it could report', () => {
    const result = judge({ layer: unit, report: undefined, exitCode: null, seconds: 1 }, false)
    expect(result).toMatchObject({ passed: 0, failed: 1 })
  })

  it('says why a layer did not run, and fails for it on CI only', () => {
    const skipped = [{ title: 'x' }, { title: 'y' }]
    const absent = 'no Go'
    expect(verdict({ passed: 0, skipped }, { absent })).toMatchObject({
      failed: 0,
      skipped: 2,
      notes: ['did not run: no Go'],
    })
    expect(verdict({ passed: 0, skipped }, { absent, isCi: true })).toMatchObject({ failed: 1, skipped: 2 })
  })

  it('groups skipped tests by their reason', () => {
    const skipped = [{ title: 'x', note: 'no kubectl' }, { title: 'y', note: 'no kubectl' }, { title: 'z' }]
    expect(verdict({ skipped }).notes).toEqual(['skipped 2: no kubectl', 'skipped 1: z'])
  })
})

describe('the end of a run', () => {
  it('is a table and a line that counts over all layers', () => {
    const results = [verdict({}), verdict({ failed: ['a'], skipped: [{ title: 'x', note: 'no kubectl' }] })]
    expect(countsOf(results)).toBe('6 passed, 1 failed, 1 skipped')
    expect(tableOf(results).split('\n')).toEqual([
      'layer        plane  passed  failed  skipped  time',
      'integration  real   3       0       0        1 s',
      'integration  real   3       1       1        1 s',
      '    failed: a',
      '    skipped 1: no kubectl',
    ])
  })
})
