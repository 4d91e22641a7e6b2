import { EDGE_NODE_LABEL, type NodeUpgradeJobSpec } from '@upgrade-hub/api'
import { amountOf, matchesSelector, type SlimNode } from '@upgrade-hub/rollout'

/** The API server cuts longer ones. */
const MAX_WARNING = 250
const MAX_NAMES = 5

/** What is legal but unwise about a new job. `nodes` is the cluster as far as it is known; undefined while it is not. */
export function warningsOf(spec: NodeUpgradeJobSpec, nodes: readonly SlimNode[] | undefined): string[] {
  return [
    ...(nodes ? unknownNodes(spec, nodes) : []),
    ...noTolerance(spec),
    ...(nodes ? tooMuchAtOnce(spec, nodes) : []),
    ...notPinned(spec),
  ].map((warning) => warning.slice(0, MAX_WARNING))
}

function unknownNodes({ nodeNames = [] }: NodeUpgradeJobSpec, nodes: readonly SlimNode[]): string[] {
  const known = new Set(nodes.map((node) => node.name))
  const missing = nodeNames.filter((name) => !known.has(name))
  if (missing.length === 0) return []
  const more = missing.length > MAX_NAMES ? ` and ${missing.length - MAX_NAMES} more` : ''
  return [`there is no node named ${missing.slice(0, MAX_NAMES).join(', ')}${more}: it will count as failed`]
}

function noTolerance({ failureTolerate = '0.1' }: NodeUpgradeJobSpec): string[] {
  if (failureTolerate === '' || Number(failureTolerate) > 0) return []
  return ['failureTolerate is 0: the first node that fails ends the job']
}

function tooMuchAtOnce(spec: NodeUpgradeJobSpec, nodes: readonly SlimNode[]): string[] {
  const targets = countTargets(spec, nodes)
  const { maxConcurrent } = spec.upgradeHub ?? {}
  const concurrency = Math.max(1, amountOf(maxConcurrent ?? spec.concurrency ?? 1, targets))
  if (targets < 2 || concurrency * 2 <= targets) return []
  return [
    `${maxConcurrent === undefined ? 'concurrency' : 'maxConcurrent'} ${maxConcurrent ?? concurrency} is more than half of the ${targets} nodes: that many may be down at the same time`,
  ]
}

function countTargets(
  { nodeNames = [], labelSelector }: NodeUpgradeJobSpec,
  nodes: readonly SlimNode[],
): number {
  if (!labelSelector) return new Set(nodeNames).size
  const edges = nodes.filter((node) => node.labels[EDGE_NODE_LABEL] === '')
  return edges.filter((node) => matchesSelector(node.labels, labelSelector)).length
}

function notPinned({ image = '', imageDigestGatter, upgradeHub }: NodeUpgradeJobSpec): string[] {
  const { amd64, arm64, value, registryAPI } = imageDigestGatter ?? {}
  const isPinned = image.includes('@sha256:') || [amd64, arm64, value, registryAPI].some(Boolean)
  if (isPinned || Object.keys(upgradeHub?.digests ?? {}).length > 0) return []
  return ['the image is named by tag only: the digest that the first node finds becomes that of the job']
}
