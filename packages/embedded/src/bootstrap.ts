import { randomUUID } from 'node:crypto'
import { type Clock, rfc3339 } from '@upgrade-hub/core'
import { createNamespace, defaultNamespace } from './builtin/defaults.ts'
import type { KubeObject } from './objects.ts'
import type { Store } from './store/store.ts'

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** Makes the namespaces that every cluster has, where they are not there yet. */
export async function createSystemNamespaces(store: Store, clock: Clock): Promise<void> {
  for (const name of NAMESPACES) {
    if (!store.get('namespaces', name))
      store.put('namespaces', name, systemNamespace(name, rfc3339(clock.now())))
  }
  await store.settled()
}

function systemNamespace(name: string, creationTimestamp: string): KubeObject {
  const metadata = { name, uid: randomUUID(), creationTimestamp }
  return createNamespace(
    defaultNamespace({ apiVersion: 'v1', kind: 'Namespace', metadata } as unknown as KubeObject),
  )
}
