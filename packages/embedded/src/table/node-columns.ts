import { at, listAt, stringAt } from '../json.ts'
import type { KubeObject } from '../objects.ts'
import { age, column, NAME, NONE, wide } from './column-kit.ts'

const ROLE_PREFIX = 'node-role.kubernetes.io/'
const ROLE_LABEL = 'kubernetes.io/role'
const UNKNOWN = '<unknown>'

function status(node: KubeObject): string {
  const ready = listAt(node, 'status', 'conditions').find((c) => stringAt(c, 'type') === 'Ready')
  const word = ready === undefined ? 'Unknown' : stringAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady'
  return at(node, 'spec', 'unschedulable') === true ? `${word},SchedulingDisabled` : word
}

function roles(node: KubeObject): string {
  const names = Object.entries(node.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(ROLE_PREFIX)) return [key.slice(ROLE_PREFIX.length)]
    return key === ROLE_LABEL && value ? [value] : []
  })
  return [...new Set(names.filter(Boolean))].sort().join(',') || NONE
}

function address(type: string): (node: KubeObject) => string {
  return (node) => {
    const found = listAt(node, 'status', 'addresses').find((a) => stringAt(a, 'type') === type)
    return stringAt(found, 'address') || NONE
  }
}

function info(field: string): (node: KubeObject) => string {
  return (node) => stringAt(node, 'status', 'nodeInfo', field)
}

function kernel(node: KubeObject): string {
  const version = info('kernelVersion')(node)
  const architecture = info('architecture')(node)
  if (!version) return UNKNOWN
  return architecture ? `${version} (${architecture})` : version
}

export const nodeColumns = [
  NAME,
  column('Status', 'The status of the node', status),
  column('Roles', 'The roles of the node', roles),
  age(),
  column('Version', 'Kubelet Version reported by the node.', info('kubeletVersion')),
  wide(column('Internal-IP', 'The address of the node inside the cluster.', address('InternalIP'))),
  wide(column('External-IP', 'The address of the node outside the cluster.', address('ExternalIP'))),
  wide(
    column(
      'OS-Image',
      'OS Image reported by the node from /etc/os-release.',
      (o) => info('osImage')(o) || UNKNOWN,
    ),
  ),
  wide(column('Kernel-Version', "Kernel Version reported by the node from 'uname -r'.", kernel)),
  wide(
    column(
      'Container-Runtime',
      'ContainerRuntime Version reported by the node.',
      (o) => info('containerRuntimeVersion')(o) || UNKNOWN,
    ),
  ),
]
