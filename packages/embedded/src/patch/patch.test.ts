import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { kindSchema } from '../builtin/definitions.ts'
import type { Json, JsonObject } from '../json.ts'
import { applyJsonPatch } from './json-patch.ts'
import { applyMergePatch } from './merge-patch.ts'
import { applyStrategicPatch } from './strategic-patch.ts'

describe('a merge patch', () => {
  it.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('turns %j by %j into %j (RFC 7386)', (target, patch, result) => {
    expect(applyMergePatch(target, patch)).toEqual(result)
  })

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.object({ withNullPrototype: false }), fc.object(), (target, patch) => {
        const [from, by] = [target, patch].map((o) => JSON.parse(JSON.stringify(o)) as Json)
        const once = applyMergePatch(from, by ?? {})
        expect(applyMergePatch(once, by ?? {})).toEqual(once)
      }),
    )
  })
})

describe('a JSON patch', () => {
  it.each<[Json, Json[], Json]>([
    [{ a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    [{ a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    [{ a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    [{ a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    [{ a: [1, 2] }, [{ op: 'replace', path: '/a/0', value: 9 }], { a: [9, 2] }],
    [{ a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/c' }], { a: {}, c: 1 }],
    [{ a: [1] }, [{ op: 'copy', from: '/a/0', path: '/a/-' }], { a: [1, 1] }],
    [
      { 'a/b': 1, 'c~d': 2 },
      [
        { op: 'remove', path: '/a~1b' },
        { op: 'replace', path: '/c~0d', value: 3 },
      ],
      { 'c~d': 3 },
    ],
    [{ a: { b: 1, c: [1] } }, [{ op: 'test', path: '/a', value: { c: [1], b: 1 } }], { a: { b: 1, c: [1] } }],
    [{}, [{ op: 'add', path: '', value: { whole: true } }], { whole: true }],
  ])('turns %j by %j into %j (RFC 6902)', (target, operations, result) => {
    expect(applyJsonPatch(target, operations)).toEqual(result)
  })

  it.each<[Json, Json[]]>([
    [{ a: 1 }, [{ op: 'remove', path: '/b' }]],
    [{ a: 1 }, [{ op: 'replace', path: '/b', value: 1 }]],
    [{ a: 1 }, [{ op: 'test', path: '/a', value: 2 }]],
    [{ a: 1 }, [{ op: 'test', path: '/b', value: 1 }]],
    [{ a: [1] }, [{ op: 'add', path: '/a/2', value: 1 }]],
    [{ a: [1] }, [{ op: 'add', path: '/a/01', value: 1 }]],
    [{ a: 1 }, [{ op: 'add', path: '/a/b', value: 1 }]],
    [{ a: 1 }, [{ op: 'add', path: 'a', value: 1 }]],
    [{ a: 1 }, [{ op: 'add', path: '/b' }]],
    [{ a: 1 }, [{ op: 'move', from: '/c', path: '/b' }]],
    [{ a: 1 }, [{ op: 'explode', path: '/a' }]],
    [{ a: 1 }, ['nothing']],
    [{ a: 1 }, [{ op: 'remove', path: '' }]],
  ])('refuses %j by %j', (target, operations) => {
    expect(() => applyJsonPatch(target, operations)).toThrow(
      expect.objectContaining({ code: 'EMBEDDED_JSON_PATCH' }),
    )
  })

  it('does not let copies double a document without end', () => {
    const operations = Array.from({ length: 60 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))
    expect(() => applyJsonPatch({ a: ['x'.repeat(100)] }, operations)).toThrow('copies')
  })

  it('takes a field called __proto__ for a field', () => {
    const patched = applyJsonPatch({}, [
      { op: 'add', path: '/__proto__', value: { polluted: true } },
    ]) as JsonObject
    expect(Object.hasOwn(patched, '__proto__')).toBe(true)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

const NODE = kindSchema('io.k8s.api.core.v1.Node')
const POD = kindSchema('io.k8s.api.core.v1.Pod')

function conditions(...types: readonly string[]): JsonObject {
  return { status: { conditions: types.map((type) => ({ type, status: 'True' })) } }
}

describe('a strategic merge patch', () => {
  it('merges lists by their merge key, and puts new items where the patch has them', () => {
    const patch = { status: { conditions: [{ type: 'New' }, { type: 'Ready', status: 'False' }] } }
    expect(applyStrategicPatch(conditions('Disk', 'Ready'), patch, NODE)).toEqual({
      status: {
        conditions: [{ type: 'New' }, { type: 'Disk', status: 'True' }, { type: 'Ready', status: 'False' }],
      },
    })
  })

  it('deletes an item, replaces a list, and replaces an object', () => {
    const gone = { status: { conditions: [{ type: 'Disk', $patch: 'delete' }] } }
    expect(applyStrategicPatch(conditions('Disk', 'Ready'), gone, NODE)).toEqual(conditions('Ready'))
    const replaced = { status: { conditions: [{ $patch: 'replace' }, { type: 'Only' }] } }
    expect(applyStrategicPatch(conditions('Disk'), replaced, NODE)).toEqual({
      status: { conditions: [{ type: 'Only' }] },
    })
    const spec = { spec: { $patch: 'replace', podCIDR: 'b' } }
    expect(applyStrategicPatch({ spec: { podCIDR: 'a', unschedulable: true } }, spec, NODE)).toEqual({
      spec: { podCIDR: 'b' },
    })
  })

  it('replaces lists without a merge key, and unites sets', () => {
    const old = { spec: { taints: [{ key: 'a' }], podCIDRs: ['1'] } }
    const patch = { spec: { taints: [{ key: 'b' }], podCIDRs: ['2', '1'] } }
    expect(applyStrategicPatch(old, patch, NODE)).toEqual({
      spec: { taints: [{ key: 'b' }], podCIDRs: ['1', '2'] },
    })
  })

  it('removes a field by null, and keeps what it does not name', () => {
    const old = { metadata: { labels: { a: '1', b: '2' } } }
    expect(applyStrategicPatch(old, { metadata: { labels: { a: null } } }, NODE)).toEqual({
      metadata: { labels: { b: '2' } },
    })
  })

  it('follows the order and the kept keys that kubectl apply sends', () => {
    const pod = {
      spec: {
        containers: [
          { name: 'a', image: '1' },
          { name: 'b', image: '1' },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
      },
    }
    const patch = {
      spec: {
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
        containers: [{ name: 'a', image: '2' }],
        '$setElementOrder/volumes': [{ name: 'v' }],
        volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }],
      },
    }
    expect(applyStrategicPatch(pod, patch, POD)).toEqual({
      spec: {
        containers: [
          { name: 'b', image: '1' },
          { name: 'a', image: '2' },
        ],
        volumes: [{ name: 'v', hostPath: { path: '/x' } }],
      },
    })
  })

  it('takes items out of a list of plain values', () => {
    const old = { metadata: { finalizers: ['a/b', 'c/d'] } }
    const patch = { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b'] } }
    expect(applyStrategicPatch(old, patch, NODE)).toEqual({ metadata: { finalizers: ['c/d'] } })
  })
})
