import type { NodeUpgradeJobSpec } from '@upgrade-hub/api'
import { describe, expect, it } from 'vitest'
import { jobPlan } from './job-plan.ts'
import type { SlimNode } from './slim-node.ts'
import { resolveTargets } from './targets.ts'
import { aJob, aNode } from './testing/fixtures.ts'

const EDGE = { 'node-role.kubernetes.io/edge': '' }

function resolve(spec: NodeUpgradeJobSpec, nodes: readonly SlimNode[]) {
  const job = aJob(spec)
  const byName = new Map(nodes.map((node) => [node.name, node]))
  return resolveTargets(job, jobPlan(job), { get: (name) => byName.get(name), list: () => nodes })
}

/** The verdict on `n1`, named by the job. */
function verdict(node: Partial<SlimNode> | undefined, spec: NodeUpgradeJobSpec = {}) {
  const [target] = resolve({ nodeNames: ['n1'], ...spec }, node ? [aNode(node)] : [])
  return [target?.verdict, target?.reason, target?.message]
}

describe('a verdict', () => {
  it.each<[string, Partial<SlimNode> | undefined, NodeUpgradeJobSpec, unknown[]]>([
    ['runs a plain edge node', {}, {}, ['Run', undefined, undefined]],
    [
      'refuses an unknown node',
      undefined,
      {},
      ['Refused', 'NotFound', 'failed to get node, err: nodes "n1" not found'],
    ],
    [
      'refuses a node without the label',
      { labels: {} },
      {},
      ['Refused', 'NotEdge', 'the node is not an edge node'],
    ],
    [
      'refuses a node whose label has a value',
      { labels: { 'node-role.kubernetes.io/edge': 'true' } },
      {},
      ['Refused', 'NotEdge', 'the node is not an edge node'],
    ],
    [
      'refuses a node that is not Ready',
      { ready: false },
      {},
      ['Refused', 'Offline', 'the node is not ready'],
    ],
    [
      'waits for a node that is not Ready when it may',
      { ready: false },
      { upgradeHub: { offline: { policy: 'Queue' } } },
      ['Run', undefined, undefined],
    ],
    [
      'leaves a node at the version alone',
      { version: 'v1.28.6-kubeedge-v1.12.0' },
      {},
      ['Refused', 'AlreadyAtVersion', 'the node already runs the version'],
    ],
    [
      'leaves it alone also when it is away',
      { version: 'v1.12.0', ready: false },
      {},
      ['Refused', 'AlreadyAtVersion', 'the node already runs the version'],
    ],
    [
      'leaves it alone without its v',
      { version: '1.12.0' },
      {},
      ['Refused', 'AlreadyAtVersion', 'the node already runs the version'],
    ],
    ['runs another build', { version: 'v1.12.0' }, { version: 'v1.12.0+2' }, ['Run', undefined, undefined]],
    [
      'refuses a lower version',
      { version: 'v1.13.0' },
      {},
      [
        'Refused',
        'Downgrade',
        'v1.12.0 is lower than v1.13.0, which runs; set versionPolicy to AllowDowngrade if that is meant',
      ],
    ],
    [
      'allows a lower version that is meant',
      { version: 'v1.13.0' },
      { upgradeHub: { versionPolicy: 'AllowDowngrade' } },
      ['Run', undefined, undefined],
    ],
    ['says nothing of a version that is none', { version: 'weekly' }, {}, ['Run', undefined, undefined]],
    [
      'leaves the version of another component to the edge',
      { version: 'v1.12.0' },
      { upgradeHub: { component: 'edgehub' } },
      ['Run', undefined, undefined],
    ],
    [
      'excludes by name, also an unknown node',
      undefined,
      { upgradeHub: { exclude: { nodeNames: ['n1'] } } },
      ['Refused', 'Excluded', 'the job excludes the node'],
    ],
    [
      'excludes by label',
      { labels: { ...EDGE, zone: 'a' } },
      { upgradeHub: { exclude: { labelSelector: { matchLabels: { zone: 'a' } } } } },
      ['Refused', 'Excluded', 'the job excludes the node'],
    ],
    [
      'excludes nobody by an empty selector',
      {},
      { upgradeHub: { exclude: { labelSelector: {} } } },
      ['Run', undefined, undefined],
    ],
    [
      'refuses a platform without a digest',
      { arch: 'riscv64' },
      { imageDigestGatter: { amd64: `sha256:${'a'.repeat(64)}` } },
      ['Refused', 'WrongPlatform', 'the job gives no digest for linux/riscv64'],
    ],
    [
      'finds a digest of a variant',
      { arch: 'arm' },
      { upgradeHub: { digests: { 'linux/arm/v7': 'x' } } },
      ['Run', undefined, undefined],
    ],
  ])('%s', (_, node, spec, expected) => {
    expect(verdict(node, spec)).toEqual(expected)
  })
})

describe('the members of a job', () => {
  const nodes = ['c', 'a', 'b'].map((name) => aNode({ name, uid: `${name}-uid` }))

  it('are named nodes in their order, each once', () => {
    const targets = resolve({ nodeNames: ['b', 'a', 'b', 'a'] }, nodes)
    expect(targets.map(({ nodeName, nodeUID, order }) => [nodeName, nodeUID, order])).toEqual([
      ['b', 'b-uid', 0],
      ['a', 'a-uid', 1],
    ])
  })

  it('are nodes with the labels by name, also such as are no edge nodes', () => {
    const other = aNode({ name: 'd', labels: { zone: 'a' } })
    const zoned = nodes.map((node) => ({ ...node, labels: { ...EDGE, zone: 'a' } }))
    const targets = resolve({ nodeNames: [], labelSelector: { matchLabels: { zone: 'a' } } }, [
      other,
      ...zoned,
    ])
    expect(targets.map(({ nodeName, verdict: v }) => [nodeName, v])).toEqual([
      ['a', 'Run'],
      ['b', 'Run'],
      ['c', 'Run'],
      ['d', 'Refused'],
    ])
  })

  it('are all edge nodes for an empty selector, and nobody else', () => {
    const targets = resolve({ nodeNames: [], labelSelector: {} }, [
      ...nodes,
      aNode({ name: 'd', labels: {} }),
    ])
    expect(targets.map((target) => target.nodeName)).toEqual(['a', 'b', 'c'])
  })
})
