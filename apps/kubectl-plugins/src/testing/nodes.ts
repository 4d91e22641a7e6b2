import { EDGE_NODE_LABEL, type Node } from '@upgrade-hub/api'

/** A Ready edge node that runs v1.11.0. */
export function edgeNode(
  name: string,
  more: { version?: string; ready?: boolean; labels?: Record<string, string> } = {},
): Node {
  const { version = 'v1.11.0', ready = true, labels = {} } = more
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `${name}-uid`,
      resourceVersion: '1',
      labels: { [EDGE_NODE_LABEL]: '', ...labels },
    },
    status: {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      nodeInfo: {
        kubeletVersion: `v1.28.6-kubeedge-${version}`,
        architecture: 'amd64',
        operatingSystem: 'linux',
      },
    },
  }
}

/** `edge-01` to `edge-NN`. */
export function edgeNodes(count: number): Node[] {
  return Array.from({ length: count }, (_, at) => edgeNode(`edge-${String(at + 1).padStart(2, '0')}`))
}
