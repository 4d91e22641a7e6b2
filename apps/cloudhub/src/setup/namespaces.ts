import { KubeError, NAMESPACES } from '@upgrade-hub/kube'
import type { KubeApi } from '../kube-api.ts'

/** Makes the namespace unless it is there. @throws KubeError */
export async function ensureNamespace(client: KubeApi, name: string): Promise<void> {
  try {
    await client.get(NAMESPACES, name)
    return
  } catch (error) {
    if (!(error instanceof KubeError && error.isNotFound)) throw error
  }
  try {
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  } catch (error) {
    if (!(error instanceof KubeError && error.isAlreadyExists)) throw error
  }
}
