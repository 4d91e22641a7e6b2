import { describe, expect, it } from 'vitest'
import { BUILTIN_RESOURCES } from '../builtin/kinds.ts'
import { compareVersionNames, Registry } from './registry.ts'

describe('versions', () => {
  it('are preferred as Kubernetes prefers them', () => {
    const names = ['v1alpha1', 'odd', 'v2', 'v1beta2', 'v11', 'v1', 'v1beta10', 'v2alpha1', 'another']
    expect(names.toSorted(compareVersionNames)).toEqual([
      ...['v11', 'v2', 'v1', 'v1beta10', 'v1beta2', 'v2alpha1', 'v1alpha1', 'another', 'odd'],
    ])
  })
})

describe('the registry', () => {
  it('finds resources by path, by kind and by where they are kept', () => {
    const registry = new Registry(BUILTIN_RESOURCES)
    expect(registry.find('', 'v1', 'nodes')?.kind).toBe('Node')
    expect(registry.ofKind('coordination.k8s.io/v1', 'Lease')?.plural).toBe('leases')
    expect(registry.ofStorage('events').map(({ group }) => group)).toEqual(['', 'events.k8s.io'])
    expect([...registry.groups().keys()]).toEqual([...registry.groups().keys()].toSorted())
    expect(registry.find('apps', 'v1', 'deployments')).toBeUndefined()
  })
})
