import type { Clock, Logger } from '@upgrade-hub/core'
import { Admission } from './admission/admission.ts'
import { WebhookClient } from './admission/webhook-client.ts'
import type { Api } from './api.ts'
import { createSystemNamespaces } from './bootstrap.ts'
import { BUILTIN_RESOURCES } from './builtin/kinds.ts'
import { CrdRegistrar } from './crd/crd-registrar.ts'
import { CRDS } from './crd/crd-resource.ts'
import { Collector } from './gc/collector.ts'
import { expireEvents } from './gc/event-expiry.ts'
import { Reactor } from './gc/reactor.ts'
import { Sweeper } from './gc/sweeper.ts'
import { Authenticator, type TokenUser } from './http/authenticator.ts'
import { Handler } from './http/handler.ts'
import { type Listening, listen, type TlsMaterial } from './http/server.ts'
import { kubeconfigFor } from './kubeconfig.ts'
import { Registry } from './registry/registry.ts'
import { openDatabase } from './store/database.ts'
import type { HistoryLimits } from './store/history.ts'
import { Store } from './store/store.ts'
import { WatchHub } from './watch/watch-hub.ts'

export interface EmbeddedOptions {
  /** Where the state is kept; made when it is not there. One process at a time. */
  readonly dataDir: string
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** PEM; `ca` is what clients trust, and goes into the kubeconfig. */
  readonly tls: TlsMaterial
  /** Who may come in, by bearer token. */
  readonly tokens: Readonly<Record<string, TokenUser>>
  /** `namespace/name` of a Service → port on 127.0.0.1, for webhooks that name a Service. */
  readonly servicePorts?: Readonly<Record<string, number>>
  readonly history?: HistoryLimits
  readonly clock: Clock
  readonly log: Logger
}

export interface EmbeddedApi {
  readonly url: string
  readonly port: number
  /** YAML with the first token of a `system:masters`, else the first of all. */
  kubeconfig(): string
  /** Ends the watches, commits what is pending, closes everything. */
  stop(): Promise<void>
}

/**
 * Starts a Kubernetes API in this process, stored in SQLite. What it answers with success is on the disk. Throws
 * StorageError when the state cannot be opened, and ListenError when the port is taken.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedApi> {
  const { clock, log } = options
  const store = new Store(await openDatabase(options.dataDir), log, options.history)
  const registry = new Registry([...BUILTIN_RESOURCES, CRDS])
  const watches = new WatchHub(store)
  const client = new WebhookClient(options.servicePorts ?? {})
  const admission = new Admission({ store, registry, client, log })
  const authenticator = new Authenticator(options.tokens)
  const api: Api = { store, registry, watches, admission, authenticator, clock, log }
  new CrdRegistrar({ store, registry, watches, log })
  await createSystemNamespaces(store, clock)
  // Nobody can have seen what is older than the first request.
  store.history.forget(store.committed)
  const stopCleaning = startCleaning(api)
  const close = async () => {
    stopCleaning()
    await client.close()
    store.close()
  }
  const server = await serve(api, options).catch(async (error: unknown) => {
    await close()
    throw error
  })
  const url = urlOf(options.host, server.port)
  return {
    url,
    port: server.port,
    kubeconfig: () => kubeconfigFor({ url, ca: options.tls.ca, ...firstAdmin(options.tokens) }),
    stop: async () => {
      watches.stop()
      await server.close(clock)
      await close()
    },
  }
}

async function serve(api: Api, { host, port, tls }: EmbeddedOptions): Promise<Listening> {
  const handler = new Handler(api)
  return await listen({ host, port, tls, handle: (request, response) => handler.handle(request, response) })
}

function urlOf(host: string, port: number): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Garbage collection, the emptying of what is deleted, and the end of events; returns what stops them. */
function startCleaning(api: Api): () => void {
  const reactors = [new Collector(api), new Sweeper(api)].map((reaction) => {
    const reactor = new Reactor(api.store, reaction, api.log)
    reactor.add(reaction.unfinished())
    return reactor
  })
  const stopExpiry = expireEvents(api)
  return () => {
    stopExpiry()
    for (const reactor of reactors) reactor.stop()
  }
}

function firstAdmin(tokens: Readonly<Record<string, TokenUser>>): { token: string; user: string } {
  const all = Object.entries(tokens)
  const [token = '', who] = all.find(([, { groups }]) => groups.includes('system:masters')) ?? all[0] ?? []
  return { token, user: who?.user ?? 'anonymous' }
}
