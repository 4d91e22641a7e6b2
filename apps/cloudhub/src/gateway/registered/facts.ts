import { EDGE_NODE_LABEL, type Node, REGISTERED_ANNOTATION } from '@upgrade-hub/api'
import { microTime, rfc3339 } from '@upgrade-hub/core'
import type { Lease } from '@upgrade-hub/kube'
import type { Hello, Probe } from '@upgrade-hub/protocol'
import type { SlimNode } from '@upgrade-hub/rollout'

/** What the hub says of a node that has no kubelet. */
export interface NodeFacts {
  readonly ready: 'True' | 'False' | 'Unknown'
  readonly version: string
  readonly arch: string
  readonly os: string
  readonly bootID: string
}

/** A node that was silent for longer is not Ready any more, and its Lease says as much. */
export const GONE_AFTER_MS = 40_000
export const LEASE_NAMESPACE = 'kube-node-lease'
export const REGISTERED_LABEL = 'upgradehub.io/registered'
const AGENT_LABEL = 'node-role.kubernetes.io/agent'

/** What a session says of its node. An agent that does not tell its version is not Ready; the last known one stays. */
export function factsOf(hello: Hello, probe: Probe, known: NodeFacts | undefined): NodeFacts {
  return {
    ready: probe.version === '' ? 'False' : 'True',
    version: probe.version === '' ? (known?.version ?? '') : probe.version,
    arch: hello.platform.arch,
    os: hello.platform.os,
    bootID: hello.node.bootID,
  }
}

/** The facts as they are stored; what is missing there differs from every truth. */
export function storedFacts({ status }: Node): NodeFacts {
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready')?.status
  const info = status?.nodeInfo
  return {
    ready: ready === 'True' || ready === 'False' ? ready : 'Unknown',
    version: info?.kubeletVersion ?? '',
    arch: info?.architecture ?? '',
    os: info?.operatingSystem ?? '',
    bootID: info?.bootID ?? '',
  }
}

/** True when nothing is to be written: what was written last is wanted still, and the cache does not contradict it. */
export function areStored(
  wanted: NodeFacts,
  written: NodeFacts | undefined,
  cached: SlimNode | undefined,
): boolean {
  if (!written || JSON.stringify(wanted) !== JSON.stringify(written)) return false
  if (!cached) return true
  return cached.ready === (wanted.ready === 'True') && cached.version === wanted.version
}

export function nodeObject(name: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { [EDGE_NODE_LABEL]: '', [AGENT_LABEL]: '', 'kubernetes.io/hostname': name },
      annotations: { [REGISTERED_ANNOTATION]: 'true' },
    },
  }
}

const READY: Readonly<Record<NodeFacts['ready'], { reason: string; message: string }>> = {
  True: { reason: 'EdgeHubReady', message: 'the agent tells its version over the session of its edgehub' },
  False: { reason: 'AgentNotAnswering', message: 'the agent does not tell its version' },
  Unknown: { reason: 'NodeStatusUnknown', message: 'the edgehub has had no session for 40 s' },
}

/** A strategic merge patch of /status; `now` is API-server time in ms. The transition time moves only with the status. */
export function statusPatch(facts: NodeFacts, written: NodeFacts | undefined, now: number): object {
  const time = rfc3339(now)
  const condition = {
    type: 'Ready',
    status: facts.ready,
    ...READY[facts.ready],
    lastHeartbeatTime: time,
    ...(facts.ready === written?.ready ? {} : { lastTransitionTime: time }),
  }
  const nodeInfo = {
    kubeletVersion: facts.version,
    architecture: facts.arch,
    operatingSystem: facts.os,
    bootID: facts.bootID,
  }
  return { status: { conditions: [condition], nodeInfo } }
}

export function leaseObject(node: { name: string; uid: string }, now: number): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: node.name,
      namespace: LEASE_NAMESPACE,
      labels: { [REGISTERED_LABEL]: 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid }],
    },
    spec: {
      holderIdentity: node.name,
      leaseDurationSeconds: GONE_AFTER_MS / 1000,
      renewTime: microTime(now),
    },
  }
}

/** True when nobody has renewed the Lease lately. */
export function isExpired(lease: Lease | undefined, now: number): boolean {
  const renewedAt = Date.parse(lease?.spec?.renewTime ?? '')
  return !(now - renewedAt < GONE_AFTER_MS)
}
