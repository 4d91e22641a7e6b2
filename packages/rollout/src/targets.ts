import type { NodeUpgradeJob } from '@upgrade-hub/api'
import { compareVersions, isVersion } from '@upgrade-hub/core'
import type { JobPlan } from './job-plan.ts'
import { EDGE_NODE_LABEL } from './names.ts'
import { REASONS, type Reason } from './reasons.ts'
import { isEmptySelector, matchesSelector } from './selector.ts'
import { agentVersion, type SlimNode } from './slim-node.ts'
import { inWaves } from './wave-plan.ts'

/** One node that a job names, and whether it is to be upgraded. */
export interface Target {
  readonly nodeName: string
  /** Empty when there is no such node. */
  readonly nodeUID: string
  readonly order: number
  /** From 0. */
  readonly wave: number
  readonly verdict: 'Run' | 'Refused'
  readonly reason?: Reason
  readonly message?: string
}

interface Refusal {
  readonly reason: Reason
  readonly message?: string
}

/** Where targets are looked up: the node cache. */
export interface NodeLookup {
  get(name: string): SlimNode | undefined
  list(): readonly SlimNode[]
}

/**
 * The nodes of a job, each once, with its verdict: those of `nodeNames` in the order given, those of a selector by name, wave by wave.
 * An empty selector (with `allNodes`) means every edge node; any other keeps KubeEdge's rule that a node which matches but is
 * no edge node gets a row that says so.
 */
export function resolveTargets(job: NodeUpgradeJob, plan: JobPlan, nodes: NodeLookup): Target[] {
  const targets = selectedNames(job, nodes).map((nodeName, order): Target => {
    const node = nodes.get(nodeName)
    const refusal = refusalOf(job, plan, nodeName, node)
    const base = { nodeName, nodeUID: node?.uid ?? '', order, wave: 0 }
    if (!refusal) return { ...base, verdict: 'Run' }
    return {
      ...base,
      verdict: 'Refused',
      reason: refusal.reason,
      message: refusal.message ?? REASONS[refusal.reason].sentence,
    }
  })
  return plan.waves.length > 0 ? inWaves(targets, plan.waves, nodes) : targets
}

function selectedNames({ spec }: NodeUpgradeJob, nodes: NodeLookup): string[] {
  const selector = spec?.labelSelector
  if (!selector) return [...new Set(spec?.nodeNames ?? [])]
  const everyEdge = isEmptySelector(selector)
  return nodes
    .list()
    .filter((node) => (everyEdge ? isEdge(node) : matchesSelector(node.labels, selector)))
    .map((node) => node.name)
    .sort()
}

function refusalOf(
  job: NodeUpgradeJob,
  plan: JobPlan,
  nodeName: string,
  node: SlimNode | undefined,
): Refusal | undefined {
  if (isExcluded(job, nodeName, node)) return { reason: 'Excluded' }
  if (!node) return { reason: 'NotFound', message: `failed to get node, err: nodes "${nodeName}" not found` }
  if (!isEdge(node)) return { reason: 'NotEdge' }
  return versionRefusal(plan, node) ?? platformRefusal(plan, node) ?? offlineRefusal(plan, node)
}

function isExcluded({ spec }: NodeUpgradeJob, nodeName: string, node: SlimNode | undefined): boolean {
  const exclude = spec?.upgradeHub?.exclude
  if (exclude?.nodeNames?.includes(nodeName)) return true
  const selector = exclude?.labelSelector
  return (
    node !== undefined &&
    selector !== undefined &&
    !isEmptySelector(selector) &&
    matchesSelector(node.labels, selector)
  )
}

/** Exactly the empty value, as KubeEdge's node_verify.go has it. */
function isEdge(node: SlimNode): boolean {
  return node.labels[EDGE_NODE_LABEL] === ''
}

/** The Node speaks of the agent's version only; of another component the edge itself will say. */
function versionRefusal(plan: JobPlan, node: SlimNode): Refusal | undefined {
  const running = agentVersion(node.version)
  if (plan.component !== 'edgecore' || !isVersion(running)) return undefined
  const order = compareVersions(plan.tool, plan.version, running)
  if (order === 0 && sameVersion(plan.version, running)) return { reason: 'AlreadyAtVersion' }
  if (order === undefined || order >= 0 || plan.versionPolicy === 'AllowDowngrade') return undefined
  return {
    reason: 'Downgrade',
    message: `${plan.version} is lower than ${running}, which runs; set versionPolicy to AllowDowngrade if that is meant`,
  }
}

/** `+build` does not order, but another build is another version to be upgraded to. */
function sameVersion(left: string, right: string): boolean {
  return left.replace(/^v/, '') === right.replace(/^v/, '')
}

function platformRefusal({ digests }: JobPlan, node: SlimNode): Refusal | undefined {
  const platforms = Object.keys(digests)
  const own = `${node.os}/${node.arch}`
  if (platforms.length === 0 || !node.os || !node.arch) return undefined
  if (platforms.some((platform) => platform === own || platform.startsWith(`${own}/`))) return undefined
  return { reason: 'WrongPlatform', message: `the job gives no digest for ${own}` }
}

function offlineRefusal({ offline }: JobPlan, node: SlimNode): Refusal | undefined {
  return node.ready || offline.policy === 'Queue' ? undefined : { reason: 'Offline' }
}
