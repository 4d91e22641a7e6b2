import { createServer, type Server } from 'node:https'
import type { EdgeIdentity, NodeUpgradeTask } from '@upgrade-hub/api'
import { acceptSessions, SESSION_SERVER_OPTIONS } from '@upgrade-hub/channel'
import type { Clock, Logger, Metrics } from '@upgrade-hub/core'
import { Informer, type KubeClient } from '@upgrade-hub/kube'
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
  readonly nodes: NodeCache
  readonly config: HubConfig
  readonly hubCa: HubCa
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

export interface Gateway {
  readonly websocketPort: number
  readonly httpsPort: number
  /** False until the tasks and identities of the API server are known. */
  readonly isReady: () => boolean
  /** Tells the edges to come back after `retryAfterSeconds`, lets running requests end, and lets go of the ports. */
  stop(retryAfterSeconds: number): Promise<void>
}

/**
 * Serves the edges: WebSocket :10000 and HTTPS :10002. Resolves once both ports are open, which is after the first sync,
 * so that no edge is refused for what is only not known yet.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { client, nodes, config, hubCa, clock, log, metrics } = options
  const stopped = new AbortController()
  const { signal } = stopped
  const tasks = activeTasks(options)
  const known = knownIdentities(options)
  const certificate = await ServerCertificate.issue({
    ca: hubCa.ca,
    names: config.advertise,
    validDays: config.certificates.serverDays,
    clock,
    log,
  })
  const identities = new Identities({ client, cache: known, clock })
  const registered = new RegisteredNodes({ client, nodes, clock, log })
  const reports = new Reports({
    writer: new EdgeWriter({ client, cache: tasks, log, metrics }),
    cache: tasks,
    clock,
    log,
    metrics,
  })
  const sessions = new Sessions({ client, tasks, identities, registered, reports, clock, log })
  tasks.onChange(({ type, item }) => sessions.onTask(item, type !== 'deleted'))
  known.onChange(({ type, key, item }) =>
    sessions.onIdentity(key, type === 'deleted' ? undefined : item.spec),
  )
  const loops = [tasks.run(signal), known.run(signal), certificate.run(signal), registered.run(signal)]
  await Promise.all([tasks.synced(signal), known.synced(signal)])

  const websocket = websocketServer(hubCa, certificate)
  const gate = acceptSessions({
    server: websocket,
    authorize: sessions.authorize,
    welcome: sessions.welcome,
    onSession: sessions.onSession,
    clock,
    log,
    metrics,
  })
  const isReady = () => tasks.hasSynced && known.hasSynced && !signal.aborted
  const store = storeOf({ reports, sessions, serverNow: () => client.serverNow() })
  const nodeDays = config.certificates.nodeDays
  const app = createEdgeApi({ client, hubCa, certificate, identities, store, isReady, nodeDays, clock, log })
  const { host, websocketPort, httpsPort } = config.listen
  const ports = {
    httpsPort: await listen(app, { host, port: httpsPort }),
    websocketPort: await listenBare(websocket, { host, port: websocketPort }),
  }
  const stop = async (retryAfterSeconds: number) => {
    websocket.close()
    await gate.close(retryAfterSeconds)
    websocket.closeAllConnections()
    await app.close()
    reports.stop()
    stopped.abort()
    await Promise.all(loops)
  }
  return { ...ports, isReady, stop }
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

function activeTasks({ client, clock, log, metrics }: GatewayOptions): Informer<NodeUpgradeTask> {
  return new Informer({
    client,
    resource: TASKS,
    fieldSelector: 'status.active=true',
    indexes: { node: (task: NodeUpgradeTask) => [task.spec.nodeName] },
    clock,
    log,
    metrics,
  })
}

function knownIdentities({ client, clock, log, metrics }: GatewayOptions): Informer<EdgeIdentity> {
  return new Informer({ client, resource: IDENTITIES, clock, log, metrics })
}
