import { type Logger, messageOf } from '@upgrade-hub/core'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import type { ClusterAccess } from './access.ts'
import type { TlsMaterial } from './authentication.ts'

/** Two pools with the same TLS material: watches hold their connections for minutes and must not starve calls. */
export interface Connections {
  readonly tls: TlsMaterial
  readonly calls: Dispatcher
  readonly watches: Dispatcher
}

const MAX_CALL_CONNECTIONS = 16
const CONNECT_TIMEOUT_MS = 5_000
/** kube-apiserver closes idle connections after 90 s; whoever closes first avoids a write into a closing one. */
const KEEP_ALIVE_MS = 55_000
/** With Linux' ten probes, one a second: a peer that vanished without a word is noticed after 20 s. */
const TCP_PROBE_AFTER_MS = 10_000

function openConnections(access: ClusterAccess, tls: TlsMaterial, onConnect: () => void): Connections {
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
    calls: open({ connections: MAX_CALL_CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 }),
    watches: open({ headersTimeout: 0, bodyTimeout: 0 }),
  }
}

/** The connections of the credentials in use. */
export class Connector {
  readonly #access: ClusterAccess
  readonly #log: Logger
  readonly #onConnect: () => void
  #current: Connections | undefined
  /** Of former credentials: they close when what runs on them has ended. */
  readonly #retired = new Set<Connections>()

  constructor(access: ClusterAccess, log: Logger, onConnect: () => void) {
    this.#access = access
    this.#log = log
    this.#onConnect = onConnect
  }

  /** New material needs new connections; what runs on the old ones may end there. */
  for(tls: TlsMaterial): Connections {
    const old = this.#current
    if (old?.tls === tls) return old
    this.#current = openConnections(this.#access, tls, this.#onConnect)
    if (old) void this.#retire(old)
    return this.#current
  }

  /** Ends everything now. */
  async close(): Promise<void> {
    const all = [...this.#retired, ...(this.#current ? [this.#current] : [])]
    this.#current = undefined
    await Promise.all(all.flatMap(({ calls, watches }) => [calls.destroy(), watches.destroy()]))
  }

  async #retire(old: Connections): Promise<void> {
    this.#log.info({}, 'credentials changed, connections to the API server are made anew')
    this.#retired.add(old)
    try {
      await Promise.all([old.calls.close(), old.watches.close()])
    } catch (error) {
      this.#log.debug({ reason: messageOf(error) }, 'old connections did not close cleanly')
    } finally {
      this.#retired.delete(old)
    }
  }
}
