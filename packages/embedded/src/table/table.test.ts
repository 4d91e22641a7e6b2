import { describe, expect, it } from 'vitest'
import type { Json } from '../json.ts'
import { node } from '../testing/objects.ts'
import { ageOf, humanDuration } from './age.ts'
import { builtinColumns } from './builtin-columns.ts'
import { customColumns } from './custom-columns.ts'
import { compileJsonPath } from './json-path.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

describe('an age', () => {
  it.each([
    [0, '0s'],
    [-1 * S, '0s'],
    [-5 * S, '<invalid>'],
    [119 * S, '119s'],
    [2 * M, '2m'],
    [5 * M + 30 * S, '5m30s'],
    [10 * M, '10m'],
    [179 * M, '179m'],
    [3 * H, '3h'],
    [7 * H + 59 * M, '7h59m'],
    [47 * H, '47h'],
    [2 * D, '2d'],
    [7 * D + 23 * H, '7d23h'],
    [8 * D, '8d'],
    [729 * D, '729d'],
    [730 * D, '2y'],
    [800 * D, '2y70d'],
    [9 * 365 * D, '9y'],
  ])('of %d ms is %s', (ms, text) => {
    expect(humanDuration(ms)).toBe(text)
  })

  it('of no time is unknown', () => {
    expect(ageOf(undefined, 0)).toBe('<unknown>')
    expect(ageOf('soon', 0)).toBe('<unknown>')
  })
})

describe('the path of a printer column', () => {
  const object = {
    spec: {
      a: 'x',
      list: [
        { k: 'b', v: 1 },
        { k: 'c', v: 2 },
      ],
      'odd.key': 'odd',
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }

  it.each<[string, Json[]]>([
    ['.spec.a', ['x']],
    ['$.spec.a', ['x']],
    ['{.spec.a}', ['x']],
    ['.spec.list[0].k', ['b']],
    ['.spec.list[-1].k', ['c']],
    ['.spec.list[*].k', ['b', 'c']],
    ['.spec.list[?(@.k=="c")].v', [2]],
    ['.spec.list[?(@.v==1)].k', ['b']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ["['spec']['odd.key']", ['odd']],
    ['.spec.odd\\.key', ['odd']],
    ['.spec.missing', []],
    ['.spec.a.b', []],
    ['.spec.list[9].k', []],
    ['.spec[', []],
  ])('%s selects %j', (path, values) => {
    expect(compileJsonPath(path)(object)).toEqual(values)
  })
})

describe('columns', () => {
  const now = Date.parse('2026-01-01T00:10:00Z')

  it('of a node tell readiness, cordon and roles', () => {
    const shown = node(
      'n',
      { spec: { unschedulable: true }, status: { conditions: [{ type: 'Ready', status: 'False' }] } },
      {
        labels: { 'node-role.kubernetes.io/edge': '', 'kubernetes.io/role': 'x' },
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
    )
    const cells = builtinColumns('nodes')
      .slice(0, 4)
      .map((column) => column.cell(shown, now))
    expect(cells).toEqual(['n', 'NotReady,SchedulingDisabled', 'edge,x', '10m'])
  })

  it('of a custom resource show a value only as the type that the column has', () => {
    const columns = customColumns([
      { name: 'N', type: 'integer', jsonPath: '.spec.n' },
      { name: 'S', type: 'string', jsonPath: '.spec.list' },
      { name: 'D', type: 'date', jsonPath: '.spec.at' },
      { name: 'B', type: 'boolean', jsonPath: '.spec.n' },
    ])
    const object = node('w', { spec: { n: 3, list: ['a'], at: '2026-01-01T00:00:00Z' } })
    expect(columns.map((column) => column.cell(object, now))).toEqual(['w', 3, '["a"]', '10m', null])
  })

  it('of a custom resource without any are name and age', () => {
    expect(customColumns(undefined).map(({ name }) => name)).toEqual(['Name', 'Age'])
  })
})
