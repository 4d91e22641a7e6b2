import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { ClusterAccess } from './access.ts'
import type { TlsMaterial } from './authentication.ts'

/** Two pools with the same TLS material: watches hold their connections for minutes and must not starve calls. */
export interface Connections {
  readonly tls: TlsMaterial
  readonly calls: Dispatcher
  readonly watches: Dispatcher
}

/** The longest answer of a call; a list page of 500 objects is far below. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const MAX_CALL_CONNECTIONS = 16
const CONNECT_TIMEOUT_MS = 5_000
/** kube-apiserver closes idle connections after 90 s; whoever closes first avoids a write into a closing one. */
const KEEP_ALIVE_MS = 55_000
/** With Linux' ten probes, one a second: a peer that vanished without a word is noticed after 20 s. */
const TCP_PROBE_AFTER_MS = 10_000

export function openConnections(access: ClusterAccess, tls: TlsMaterial, onConnect: () => void): Connections {
  const connect = {
    ...tls,
    ...(access.serverName ? { servername: access.serverName } : {}),
    rejectUnauthorized: !access.insecureSkipVerify,
    timeout: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelay: TCP_PROBE_AFTER_MS,
  }
  const open = (options: Agent.Options): Dispatcher => {
    // HTTP/1.1: one broken HTTP/2 connection would take every watch and call with it at once.
    const common = { ...options, connect, allowH2: false, keepAliveTimeout: KEEP_ALIVE_MS }
    const pool = access.proxyUrl
      ? new ProxyAgent({ ...common, uri: access.proxyUrl, requestTls: connect })
      : new Agent(common)
    return pool.on('connect', onConnect)
  }
  return {
    tls,
    calls: open({ connections: MAX_CALL_CONNECTIONS, maxResponseSize: MAX_ANSWER_BYTES }),
    watches: open({ headersTimeout: 0, bodyTimeout: 0 }),
  }
}

/** Lets running requests end, keeps nothing open. */
export async function closeConnections(connections: Connections): Promise<void> {
  await Promise.all([connections.calls.close(), connections.watches.close()])
}

/** Ends everything now. */
export async function destroyConnections(connections: Connections): Promise<void> {
  await Promise.all([connections.calls.destroy(), connections.watches.destroy()])
}
