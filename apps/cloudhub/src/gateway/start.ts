import { createServer, type Server } from 'node:https'
import type { EdgeIdentity, NodeUpgradeTask } from '@upgrade-hub/api'
import { acceptSessions, SESSION_SERVER_OPTIONS } from '@upgrade-hub/channel'
import type { Clock, Logger, Metrics } from '@upgrade-hub/core'
import { type EventRecorder, Informer, type KubeClient, type Node } from '@upgrade-hub/kube'
import type { SlimNode } from '@upgrade-hub/rollout'
import type { HubCa } from '../certificates/hub-ca.ts'
import { ServerCertificate } from '../certificates/server-certificate.ts'
import type { HubConfig } from '../config.ts'
import { listen, listenBare } from '../http/listen.ts'
import { IDENTITIES, TASKS } from '../kube-api.ts'
import { createEdgeApi } from './https.ts'
import { Identities } from './identity/identities.ts'
import { type NodeCache, RegisteredNodes } from './registered/registered-nodes.ts'
import { EdgeWriter } from './reports/edge-writer.ts'
import { Reports } from './reports/reports.ts'
import { storeOf } from './session/store-result.ts'
import { Sessions } from './sessions.ts'

export interface GatewayOptions {
  readonly client: KubeClient
  /** The informer of Nodes, which runs elsewhere. */
  readonly nodes: NodeCache & Pick<Informer<Node, SlimNode>, 'onChange'>
  readonly config: HubConfig
  readonly hubCa: HubCa
  /** Tells people of two machines that claim one node. */
  readonly recorder: Pick<EventRecorder, 'record'>
  /** Ends a start that is still under way. */
  readonly signal?: AbortSignal
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

export interface Gateway {
  readonly websocketPort: number
  readonly httpsPort: number
  /** Tells the edges to come back after `retryAfterSeconds`, lets running requests end, and lets go of the ports. */
  stop(retryAfterSeconds: number): Promise<void>
}

/**
 * Serves the edges: WebSocket :10000 and HTTPS :10002. The ports open after the first sync, so that no edge is refused
 * for what is only not known yet.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, hubCa, clock, log } = options
  const certificate = await ServerCertificate.issue({
    ca: hubCa.ca,
    names: config.advertise,
    validDays: config.certificates.serverDays,
    clock,
    log,
  })
  const parts = assemble(options)
  const stopped = new AbortController()
  const loops = [...parts.loops, certificate].map((part) => part.run(stopped.signal))
  const end = async () => {
    parts.stopListening()
    parts.reports.stop()
    stopped.abort()
    await Promise.all(loops)
  }
  try {
    await parts.synced(options.signal)
    const served = await serve(options, parts, certificate)
    const stop = async (retryAfterSeconds: number) => {
      await served.close(retryAfterSeconds)
      await end()
    }
    return { websocketPort: served.websocketPort, httpsPort: served.httpsPort, stop }
  } catch (error) {
    await end()
    throw error
  }
}

interface Parts {
  readonly identities: Identities
  readonly reports: Reports
  readonly sessions: Sessions
  readonly loops: readonly { run(signal: AbortSignal): Promise<void> }[]
  /** The informer of Nodes lives on. */
  readonly stopListening: () => void
  synced(signal?: AbortSignal): Promise<void>
}

/** Everything that is behind the two servers. */
function assemble({ client, nodes, clock, log, metrics }: GatewayOptions): Parts {
  const common = { client, clock, log, metrics }
  const tasks = new Informer<NodeUpgradeTask>({
    ...common,
    resource: TASKS,
    fieldSelector: 'status.active=true',
    indexes: { node: (task) => [task.spec.nodeName] },
  })
  const known = new Informer<EdgeIdentity>({ ...common, resource: IDENTITIES })
  const identities = new Identities({ client, cache: known, clock })
  const registered = new RegisteredNodes({ client, nodes, clock, log })
  const writer = new EdgeWriter({ client, cache: tasks, log, metrics })
  const reports = new Reports({ writer, cache: tasks, clock, log, metrics })
  const sessions = new Sessions({ client, tasks, nodes, identities, registered, reports, clock, log })
  tasks.onChange(({ type, item }) => sessions.onTask(item, type !== 'deleted'))
  const stopListening = nodes.onChange(({ type, item }) => {
    if (type !== 'deleted') sessions.onNode(item)
  })
  known.onChange(({ type, key, item }) =>
    sessions.onIdentity(key, type === 'deleted' ? undefined : item.spec),
  )
  const synced = async (signal?: AbortSignal) => {
    await Promise.all([tasks.synced(signal), known.synced(signal)])
  }
  return { identities, reports, sessions, loops: [tasks, known, registered], stopListening, synced }
}

interface Served {
  readonly websocketPort: number
  readonly httpsPort: number
  close(retryAfterSeconds: number): Promise<void>
}

/** Opens the two ports. */
async function serve(options: GatewayOptions, parts: Parts, certificate: ServerCertificate): Promise<Served> {
  const { client, config, hubCa, clock, log, metrics } = options
  const { identities, reports, sessions } = parts
  const { host } = config.listen
  const store = storeOf({ reports, sessions, serverNow: () => client.serverNow() })
  const nodeDays = config.certificates.nodeDays
  const api = createEdgeApi({ client, hubCa, certificate, identities, store, nodeDays, clock, log, metrics })
  const server = websocketServer(hubCa, certificate)
  const { authorize, welcome, onSession } = sessions
  const onConflict = tellConflict(options)
  const gate = acceptSessions({ server, authorize, welcome, onSession, onConflict, clock, log, metrics })
  const close = async (retryAfterSeconds: number) => {
    server.close()
    await gate.close(retryAfterSeconds)
    server.closeAllConnections()
    await api.close()
  }
  try {
    const httpsPort = await listen(api, { host, port: config.listen.httpsPort })
    const websocketPort = await listenBare(server, { host, port: config.listen.websocketPort })
    return { httpsPort, websocketPort, close }
  } catch (error) {
    await close(0)
    throw error
  }
}

const CONFLICTS = {
  IdentityConflict: 'a certificate of this node was used to speak for another',
  FlipFlop: 'two machines take turns in speaking for this node: one certificate was copied',
} as const

/** An event on the Node, which is where an operator looks. */
function tellConflict({ nodes, recorder }: GatewayOptions) {
  return (nodeName: string, kind: keyof typeof CONFLICTS): void => {
    const uid = nodes.get(nodeName)?.uid ?? ''
    const regarding = { apiVersion: 'v1', kind: 'Node', name: nodeName, uid }
    recorder.record({ regarding, type: 'Warning', reason: 'IdentityConflict', note: CONFLICTS[kind] })
  }
}

/** Mutual TLS only, with a certificate that follows its renewals. */
function websocketServer({ ca }: HubCa, certificate: ServerCertificate): Server {
  const server = createServer({ ...SESSION_SERVER_OPTIONS, ...certificate.current, ca: ca.certPem })
  const { minVersion, ciphers, secureOptions } = SESSION_SERVER_OPTIONS
  certificate.follow((material) => {
    server.setSecureContext({ minVersion, ciphers, secureOptions, ...material, ca: ca.certPem })
  })
  return server
}
