import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUILTIN_RESOURCES } from '../builtin/kinds.ts'
import type { JsonObject } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { withFields, withMeta } from '../objects.ts'
import type { Resource } from '../registry/resource.ts'
import { node } from '../testing/objects.ts'
import { formatFields, isEmptySet, parseFields, subtract, union } from './field-set.ts'
import { trackFields } from './managed-fields.ts'

const NODES = BUILTIN_RESOURCES.find(({ plural }) => plural === 'nodes') as Resource

let seconds = 0
function write(
  object: KubeObject,
  old: KubeObject | undefined,
  manager: string,
  subresource = '',
): KubeObject {
  seconds += 1
  const time = new Date(seconds * 1000).toISOString()
  const next = old ? withMeta(object, { managedFields: old.metadata.managedFields }) : object
  return trackFields(next, old, NODES, { manager, subresource, time })
}

function ownersOf(object: KubeObject, field: string): string[] {
  return (object.metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(`"${field}"`))
    .map(({ manager }) => manager)
}

const born = write(node('a', { spec: {} }, { labels: { a: 'b' } }), undefined, 'creator')

describe('managed fields', () => {
  it('give what a creation sets to who created', () => {
    expect(born.metadata.managedFields).toMatchObject([
      {
        manager: 'creator',
        operation: 'Update',
        fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } },
      },
    ])
  })

  it('move unschedulable to the last who changed it', () => {
    const cordoned = write(withFields(born, { spec: { unschedulable: true } }), born, 'kubectl-cordon')
    expect(ownersOf(cordoned, 'f:unschedulable')).toEqual(['kubectl-cordon'])
    const uncordoned = write(withFields(cordoned, { spec: {} }), cordoned, 'somebody')
    const again = write(withFields(uncordoned, { spec: { unschedulable: true } }), uncordoned, 'upgradehub')
    expect(ownersOf(again, 'f:unschedulable')).toEqual(['upgradehub'])
  })

  it('leave no trace of setting the same value again', () => {
    const held = write(withFields(born, { spec: { unschedulable: true } }), born, 'upgradehub')
    const same = write(withFields(held, {}), held, 'kubectl-cordon')
    expect(ownersOf(same, 'f:unschedulable')).toEqual(['upgradehub'])
    expect(same.metadata.managedFields).toEqual(held.metadata.managedFields)
  })

  it('forget a field that is removed, whoever removes it', () => {
    const held = write(withFields(born, { spec: { unschedulable: true } }), born, 'upgradehub')
    const free = write(withFields(held, { spec: {} }), held, 'kubectl-cordon')
    expect(ownersOf(free, 'f:unschedulable')).toEqual([])
  })

  it('name the items of a list by their keys, and keep subresources apart', () => {
    const ready = { type: 'Ready', status: 'True' }
    const spoken = write(withFields(born, { status: { conditions: [ready] } }), born, 'kubelet', 'status')
    const entry = spoken.metadata.managedFields?.find(({ manager }) => manager === 'kubelet')
    expect(entry?.subresource).toBe('status')
    expect(entry?.fieldsV1).toMatchObject({
      'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } } },
    })
  })

  it('are not kept of an object that nobody owns fields of, and are reset by an empty list', () => {
    const bare = node('b', { spec: {} })
    const cordoned = trackFields(withFields(bare, { spec: { unschedulable: true } }), bare, NODES, {
      manager: 'm',
      subresource: '',
      time: '',
    })
    expect(cordoned.metadata.managedFields).toBeUndefined()
    const reset = trackFields(withMeta(born, { managedFields: [] }), born, NODES, {
      manager: 'm',
      subresource: '',
      time: '',
    })
    expect(reset.metadata.managedFields).toBeUndefined()
  })

  it('fold the oldest of many writers into one', () => {
    let current = born
    for (let i = 0; i < 15; i++) {
      const labels = { ...current.metadata.labels, [`l${i}`]: 'x' }
      current = write(withMeta(current, { labels }), current, `writer-${i}`)
    }
    const managers = current.metadata.managedFields?.map(({ manager }) => manager) ?? []
    expect(managers.length).toBe(10)
    expect(managers).toContain('ancient-changes')
    expect(ownersOf(current, 'f:l0')).toEqual(['ancient-changes'])
  })
})

const trie: fc.Arbitrary<JsonObject> = fc.letrec<{ node: JsonObject }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constant({}),
    fc.dictionary(fc.constantFrom('f:a', 'f:b', 'f:c', '.'), tie('node'), { maxKeys: 3 }).map((entries) => {
      const { '.': self, ...rest } = entries
      return self === undefined || Object.keys(rest).length === 0 ? rest : { ...rest, '.': {} }
    }),
  ),
})).node

describe('sets of fields', () => {
  it('are what they were after they were written and read', () => {
    fc.assert(
      fc.property(trie, (fields) => {
        expect(formatFields(parseFields(fields))).toEqual(
          formatFields(parseFields(formatFields(parseFields(fields)))),
        )
      }),
    )
  })

  it('hold what a union adds, and nothing of what is subtracted', () => {
    fc.assert(
      fc.property(trie, trie, (left, right) => {
        const a = parseFields(left)
        const b = parseFields(right)
        expect(isEmptySet(subtract(a, union(a, b), false))).toBe(true)
        expect(formatFields(subtract(subtract(a, b, false), b, false))).toEqual(
          formatFields(subtract(a, b, false)),
        )
      }),
    )
  })
})
