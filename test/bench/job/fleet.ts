import { EDGE_NODE_LABEL, type EdgeIdentity, IDENTITY_KIND } from '@upgrade-hub/api'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { type KubeClient, NODES, type Node, resource, SECRETS } from '@upgrade-hub/kube'
import { type Ca, createNodeCsr, loadCa } from '@upgrade-hub/pki'
import { type EdgeBehaviour, SimulatedEdge } from '@upgrade-hub/testkit'
import { inParallel } from './parallel.ts'

const EDGE_IDENTITIES = resource<EdgeIdentity>(IDENTITY_KIND)
const YEAR_SECONDS = 31_536_000

export interface FleetOptions {
  /** As the administrator: makes nodes and identities, and plays every kubelet. */
  readonly admin: KubeClient
  readonly websocketUrl: string
  readonly size: number
  readonly label: string
  readonly fromVersion: string
  readonly behaviour: EdgeBehaviour
  readonly signal: AbortSignal
}

/** Nodes, identities, certificates and sessions of `size` simulated edges; resolves when all are connected. */
export async function startFleet(options: FleetOptions): Promise<SimulatedEdge[]> {
  const ca = await readCa(options.admin)
  const names = Array.from(
    { length: options.size },
    (_, i) => `${options.label}-${String(i).padStart(5, '0')}`,
  )
  return inParallel(names, 16, (name) => startEdge(options, ca, name))
}

async function readCa(admin: KubeClient): Promise<Ca> {
  const { data } = await admin.get(SECRETS, 'upgrade-hub-ca', { namespace: 'upgrade-hub' })
  const pem = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString()
  return loadCa({ certPem: pem('ca.crt'), keyPem: pem('ca.key') })
}

async function startEdge(options: FleetOptions, ca: Ca, nodeName: string): Promise<SimulatedEdge> {
  const { admin, label, fromVersion } = options
  const { csrDer, keyPem } = await createNodeCsr({ nodeName })
  const signed = await ca.signNodeCsr(csrDer, { nodeName, validSeconds: YEAR_SECONDS })
  const machineID = `machine-${nodeName}`
  await admin.create(EDGE_IDENTITIES, identityOf(nodeName, signed.fingerprint, machineID))
  await admin.create(NODES, nodeOf(nodeName, label))
  await reportVersion(admin, nodeName, fromVersion)
  const edge = new SimulatedEdge({
    url: options.websocketUrl,
    nodeName,
    machineID,
    version: fromVersion,
    tls: { ca: ca.certPem, cert: signed.certPem, key: keyPem },
    behaviour: options.behaviour,
    onVersion: (version) => reportVersion(admin, nodeName, version),
    clock: systemClock,
    log: silentLogger,
    signal: options.signal,
  })
  void edge.run()
  return edge
}

function identityOf(name: string, fingerprint: string, machineID: string): EdgeIdentity {
  return {
    apiVersion: 'upgradehub.io/v1alpha1',
    kind: 'EdgeIdentity',
    metadata: { name },
    spec: { fingerprint, machineID },
  }
}

function nodeOf(name: string, label: string): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [EDGE_NODE_LABEL]: '', bench: label } },
  }
}

/** What a kubelet of KubeEdge reports: Ready, and its version behind that of Kubernetes. */
async function reportVersion(admin: KubeClient, name: string, version: string): Promise<void> {
  const status = {
    conditions: [{ type: 'Ready', status: 'True', reason: 'EdgeReady', message: 'simulated' }],
    nodeInfo: {
      kubeletVersion: `v1.30.7-kubeedge-${version}`,
      architecture: 'amd64',
      operatingSystem: 'linux',
    },
  }
  await admin.patch(NODES, name, { status }, { subresource: 'status', type: 'merge' })
}
