import type { NodeUpgradeTask, TaskStatus } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { renderTable, rowsOf } from './table.ts'

const task = (nodeName: string, status: TaskStatus): NodeUpgradeTask =>
  ({ metadata: { name: nodeName }, spec: { nodeName, version: 'v1.23.1' }, status }) as NodeUpgradeTask

describe('the live table', () => {
  const rows = rowsOf([
    task('edge-10', { phase: 'Pending' }),
    task('edge-2', {
      phase: 'InProgress',
      stage: 'Proceed',
      attempt: 1,
      fromVersion: 'v1.22.0',
      edge: { attempt: 1, seq: 9, step: 'E9' },
    }),
  ])

  it('puts nodes in the order that people count in, and says the step in words', () => {
    expect(renderTable(rows, false)).toEqual([
      'NODE     PHASE       STAGE             ATTEMPT  FROM → TO          REASON',
      'edge-2   InProgress  Proceed (health)  1        v1.22.0 → v1.23.1',
      'edge-10  Pending                                ? → v1.23.1',
    ])
  })

  it('colours whole lines only, so that columns stay where they are', () => {
    const plain = renderTable(rows, false)
    // oxlint-disable-next-line no-control-regex -- the escape character is what this is about
    const stripped = renderTable(rows, true).map((line) => line.replace(/\u001b\[\d+m/g, ''))
    expect(stripped).toEqual(plain)
  })
})
