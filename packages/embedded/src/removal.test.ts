import { describe, expect, it } from 'vitest'
import { BUILTIN_RESOURCES } from './builtin/kinds.ts'
import { CRDS } from './crd/crd-resource.ts'
import { type KubeObject, withFields, withMeta } from './objects.ts'
import type { Resource } from './registry/resource.ts'
import { isReleased, planRemoval } from './removal.ts'
import { configMap, node } from './testing/objects.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')

function resource(plural: string): Resource {
  return BUILTIN_RESOURCES.find((one) => one.plural === plural) as Resource
}

function pod(more: Record<string, unknown>, meta: Record<string, unknown> = {}): KubeObject {
  return { ...configMap('p', more, meta), kind: 'Pod' } as KubeObject
}

const plan = (plural: string, object: KubeObject, options = {}) =>
  planRemoval(resource(plural), object, { now: NOW, ...options })

describe('a deletion', () => {
  it('takes away what nothing holds', () => {
    expect(plan('configmaps', configMap('a')).action).toBe('remove')
  })

  it('marks what a finalizer holds, once', () => {
    const held = configMap('a', {}, { finalizers: ['a.b/c'], generation: 4 })
    const marked = plan('configmaps', held)
    expect(marked).toMatchObject({
      action: 'mark',
      object: {
        metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0, generation: 5 },
      },
    })
    expect(plan('configmaps', marked.object, { now: NOW + 60_000 })).toEqual({
      action: 'keep',
      object: marked.object,
    })
  })

  it.each([
    ['Foreground', ['a.b/c', 'foregroundDeletion']],
    ['Orphan', ['a.b/c', 'orphan']],
    ['Background', ['a.b/c']],
  ])('in the mode %s leaves the finalizers %j', (propagation, finalizers) => {
    const held = configMap('a', {}, { finalizers: ['orphan', 'a.b/c'] })
    expect(plan('configmaps', held, { propagation }).object.metadata.finalizers).toEqual(finalizers)
  })

  it('gives a pod on a node its grace, and any other none', () => {
    const running = pod({
      spec: { nodeName: 'n', terminationGracePeriodSeconds: 10 },
      status: { phase: 'Running' },
    })
    expect(plan('pods', running)).toMatchObject({
      action: 'mark',
      object: { metadata: { deletionTimestamp: '2026-01-01T00:00:10Z', deletionGracePeriodSeconds: 10 } },
    })
    expect(plan('pods', pod({ spec: {} })).action).toBe('remove')
    expect(plan('pods', pod({ spec: { nodeName: 'n' }, status: { phase: 'Failed' } })).action).toBe('remove')
  })

  it('lets a later delete of a pod shorten the grace, never lengthen it', () => {
    const going = plan('pods', pod({ spec: { nodeName: 'n' } }), { gracePeriodSeconds: 20 }).object
    expect(plan('pods', going, { gracePeriodSeconds: 60 }).action).toBe('keep')
    expect(plan('pods', going, { gracePeriodSeconds: 5 }).object.metadata.deletionGracePeriodSeconds).toBe(5)
    expect(plan('pods', going, { gracePeriodSeconds: 0 }).action).toBe('remove')
  })

  it('ends a namespace only when it is empty', () => {
    const namespace = node('n', { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } })
    const marked = plan('namespaces', namespace)
    expect(marked).toMatchObject({ action: 'mark', object: { status: { phase: 'Terminating' } } })
    expect(isReleased(resource('namespaces'), marked.object)).toBe(false)
    expect(isReleased(resource('namespaces'), withFields(marked.object, { spec: {} }))).toBe(true)
  })

  it('keeps a definition until its objects are gone', () => {
    const marked = planRemoval(CRDS, node('w.example.com', { spec: {} }), { now: NOW })
    expect(marked.object.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io'])
    expect(isReleased(CRDS, marked.object)).toBe(false)
    expect(isReleased(CRDS, withMeta(marked.object, { finalizers: undefined }))).toBe(true)
  })
})
