import type { KubeObject, ObjectMeta } from '../objects.ts'

/** A ConfigMap as the store keeps it. */
export function configMap(
  name: string,
  more: Record<string, unknown> = {},
  meta: Partial<ObjectMeta> = {},
): KubeObject {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, ...meta }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...more } as unknown as KubeObject
}

export function node(
  name: string,
  more: Record<string, unknown> = {},
  meta: Partial<ObjectMeta> = {},
): KubeObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, ...meta }, ...more } as unknown as KubeObject
}
