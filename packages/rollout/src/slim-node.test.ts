import type { Node } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { agentVersion, slimNode } from './slim-node.ts'

function node(metadata: Partial<Node['metadata']> = {}, rest: Partial<Node> = {}): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u', ...metadata }, ...rest }
}

describe('slimNode', () => {
  it('keeps what decisions look at', () => {
    const hold = { task: 't', taskUID: 'tu', epoch: 3, previousUnschedulable: true, takenAt: 'then' }
    const annotations = {
      'upgradehub.io/hold': JSON.stringify(hold),
      'upgradehub.io/epoch': '3',
      'upgradehub.io/keep-cordoned': '',
      'upgradehub.io/registered': 'true',
      'nodeupgradejob.operations.kubeedge.io/history': 'v1.10.0->v1.11.0',
    }
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kubeletVersion: 'v1.11.0', architecture: 'arm64', operatingSystem: 'linux' },
    }
    expect(slimNode(node({ annotations }, { spec: { unschedulable: true }, status }))).toMatchObject({
      unschedulable: true,
      ready: true,
      version: 'v1.11.0',
      arch: 'arm64',
      os: 'linux',
      registered: true,
      hold,
      epoch: 3,
      keepCordoned: true,
      history: 'v1.10.0->v1.11.0',
    })
  })

  it.each([['no JSON'], ['[1]'], ['null'], ['{"task":7}']])(
    'reads the broken mark %j as one of no task',
    (text) => {
      const { hold } = slimNode(node({ annotations: { 'upgradehub.io/hold': text } }))
      expect(hold).toMatchObject({ task: '', taskUID: '', previousUnschedulable: false })
    },
  )

  it.each([['x'], ['-1'], ['1.5'], ['']])('takes the epoch %j for none', (text) => {
    expect(slimNode(node({ annotations: { 'upgradehub.io/epoch': text } })).epoch).toBe(0)
  })

  const ours = { 'f:spec': { 'f:unschedulable': {} } }
  it.each([
    ['is ours when our manager owns the field', { manager: 'upgradehub', fieldsV1: ours }, true],
    ['is not ours when a person owns it', { manager: 'kubectl-cordon', fieldsV1: ours }, false],
    [
      'is not ours when we own something else',
      { manager: 'upgradehub', fieldsV1: { 'f:metadata': {} } },
      false,
    ],
    ['is not ours by a subresource', { manager: 'upgradehub', fieldsV1: ours, subresource: 'status' }, false],
    ['is not ours when the fields cannot be read', { manager: 'upgradehub', fieldsV1: 'x' }, false],
  ])('the cordon %s', (_, entry, expected) => {
    expect(slimNode(node({ managedFields: [entry] })).ownsUnschedulable).toBe(expected)
  })
})

describe('agentVersion', () => {
  it.each([
    ['v1.28.6-kubeedge-v1.12.0', 'v1.12.0'],
    ['v1.22.6-kubeedge-v1.12.0-rc.1', 'v1.12.0-rc.1'],
    ['v1.12.0', 'v1.12.0'],
    ['', ''],
  ])('of %j is %j', (kubelet, agent) => {
    expect(agentVersion(kubelet)).toBe(agent)
  })
})
