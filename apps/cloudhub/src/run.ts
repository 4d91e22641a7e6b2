import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, type Logger, type Metrics, systemClock } from '@upgrade-hub/core'
import { connect, EventRecorder, Informer, type KubeClient, NODES, type Node } from '@upgrade-hub/kube'
import { createLogger, createMetrics } from '@upgrade-hub/observability'
import { type SlimNode, slimNode } from '@upgrade-hub/rollout'
import { type HubCa, openHubCa } from './certificates/hub-ca.ts'
import type { HubConfig } from './config.ts'
import { startControllers } from './controllers/index.ts'
import { type Gateway, startGateway } from './gateway/start.ts'
import { listen } from './http/listen.ts'
import { createMetricsServer } from './http/metrics-server.ts'
import { EMBEDDED_HOLDER, type EmbeddedApi, furnish, startEmbeddedApi } from './setup/embedded-api.ts'
import { patiently } from './setup/patiently.ts'
import { StopStack } from './stop-stack.ts'
import { startWebhooks } from './webhooks/start.ts'

/** Where the hub listens; a role that is off has no port. */
export interface HubPorts {
  readonly metrics: number
  readonly websocket?: number
  readonly https?: number
  readonly webhooks?: number
  readonly embedded?: number
}

export interface Hub {
  readonly ports: HubPorts
  /** File with the kubeconfig of the embedded API server. */
  readonly kubeconfig?: string
  /** Orderly: edges are told to come back, what runs ends. May be called twice. */
  stop(): Promise<void>
}

export interface StartOptions {
  readonly clock?: Clock
  readonly log?: Logger
  /** Stops the hub, also one that is still starting. */
  readonly signal?: AbortSignal
}

/** An edge that is sent away finds another replica, or this one after its restart. */
const COME_BACK_SECONDS = 1

/**
 * Starts the roles of the configuration; resolves when the hub is ready. What was started before a failure is stopped.
 * @throws StartError, KubeError, ConfigError; the reason of the signal
 */
export async function startHub(config: HubConfig, options: StartOptions = {}): Promise<Hub> {
  const log = options.log ?? createLogger({ level: config.logLevel, name: 'cloudhub' })
  const stack = new StopStack(log)
  const starting = new Starting(config, { log, clock: options.clock ?? systemClock, stack })
  const onAbort = () => void stack.stop()
  options.signal?.addEventListener('abort', onAbort, { once: true })
  try {
    options.signal?.throwIfAborted()
    const hub = await starting.run()
    options.signal?.throwIfAborted()
    return hub
  } catch (error) {
    await stack.stop()
    throw error
  }
}

/** What the roles share. */
interface Shared {
  readonly client: KubeClient
  readonly nodes: Informer<Node, SlimNode>
  readonly recorder: EventRecorder
}

/** Puts the parts together, each with the step that takes it down again. */
class Starting {
  readonly #config: HubConfig
  readonly #clock: Clock
  readonly #log: Logger
  readonly #stack: StopStack
  readonly #registry = createMetrics()
  /** Names this process in the lease and in events. */
  readonly #identity: string
  readonly #broken: string[] = []
  #isReady = false

  constructor(config: HubConfig, parts: { clock: Clock; log: Logger; stack: StopStack }) {
    this.#config = config
    this.#clock = parts.clock
    this.#log = parts.log
    this.#stack = parts.stack
    const process = `${hostname()}_${randomBytes(4).toString('hex')}`
    this.#identity = config.embedded.enabled ? EMBEDDED_HOLDER + process : process
  }

  async run(): Promise<Hub> {
    const { roles } = this.#config
    const metrics = await this.#serveMetrics()
    const embedded = this.#config.embedded.enabled ? await this.#startEmbedded() : undefined
    const client = await this.#connect(embedded)
    if (embedded) await furnish(client, { clock: this.#clock, log: this.#log })
    const shared = { client, nodes: this.#followNodes(client), recorder: this.#record(client) }
    const webhooks = roles.webhooks ? await this.#startWebhooks(shared) : undefined
    if (roles.channel || roles.controllers) await shared.nodes.synced(this.#stack.signal)
    const gateway = roles.channel ? await this.#startGateway(shared) : undefined
    if (roles.controllers) this.#startControllers(shared)
    this.#isReady = true
    this.#stack.push('readiness', () => Promise.resolve(void (this.#isReady = false)))
    const ports = {
      metrics,
      ...(embedded ? { embedded: embedded.port } : {}),
      ...(webhooks === undefined ? {} : { webhooks }),
      ...(gateway ? { websocket: gateway.websocketPort, https: gateway.httpsPort } : {}),
    }
    this.#log.info({ ports, roles }, 'the hub is ready')
    return {
      ports,
      ...(embedded ? { kubeconfig: embedded.kubeconfig } : {}),
      stop: () => this.#stack.stop(),
    }
  }

  get #metrics(): Metrics {
    return this.#registry.metrics
  }

  /** First, so that a start that takes long can be watched. */
  async #serveMetrics(): Promise<number> {
    const app = createMetricsServer({
      registry: this.#registry,
      isReady: () => this.#isReady,
      broken: () => this.#broken,
      log: this.#log,
    })
    this.#stack.push('metrics', () => app.close())
    return listen(app, { host: this.#config.listen.host, port: this.#config.listen.metricsPort })
  }

  async #startEmbedded(): Promise<EmbeddedApi> {
    const api = await startEmbeddedApi(this.#config.embedded, { clock: this.#clock, log: this.#log })
    this.#stack.push('embedded API', () => api.stop())
    return api
  }

  async #connect(embedded: EmbeddedApi | undefined): Promise<KubeClient> {
    const { kubernetes } = this.#config
    const client = await connect({
      ...(embedded ? { kubeconfig: embedded.kubeconfig } : kubernetes),
      clock: this.#clock,
      log: this.#log,
      metrics: this.#metrics,
      userAgent: 'upgrade-hub/cloudhub',
    })
    this.#stack.push('API client', () => client.close())
    return client
  }

  #openCa(client: KubeClient): Promise<HubCa> {
    const patience = { clock: this.#clock, log: this.#log, signal: this.#stack.signal }
    return patiently(() => openHubCa(client, this.#log), patience)
  }

  #followNodes(client: KubeClient): Informer<Node, SlimNode> {
    const nodes = new Informer<Node, SlimNode>({
      client,
      resource: NODES,
      project: slimNode,
      clock: this.#clock,
      log: this.#log,
      metrics: this.#metrics,
    })
    this.#background('nodes', (signal) => nodes.run(signal))
    return nodes
  }

  #record(client: KubeClient): EventRecorder {
    const recorder = new EventRecorder({
      client,
      reportingController: 'upgradehub.io/cloudhub',
      reportingInstance: this.#identity,
      clock: this.#clock,
      log: this.#log,
      metrics: this.#metrics,
    })
    this.#stack.push('events', () => recorder.flush())
    return recorder
  }

  async #startWebhooks({ client, nodes }: Shared): Promise<number> {
    const webhooks = await startWebhooks({
      client,
      config: this.#config,
      hubCa: await this.#openCa(client),
      nodes: () => (nodes.hasSynced ? nodes.list() : undefined),
      clock: this.#clock,
      log: this.#log,
      metrics: this.#metrics,
    })
    this.#stack.push('webhooks', () => webhooks.stop())
    return webhooks.port
  }

  async #startGateway({ client, nodes, recorder }: Shared): Promise<Gateway> {
    const gateway = await startGateway({
      client,
      nodes,
      recorder,
      config: this.#config,
      hubCa: await this.#openCa(client),
      signal: this.#stack.signal,
      clock: this.#clock,
      log: this.#log,
      metrics: this.#metrics,
    })
    this.#stack.push('gateway', () => gateway.stop(COME_BACK_SECONDS))
    return gateway
  }

  #startControllers({ client, nodes, recorder }: Shared): void {
    const controllers = startControllers({
      client,
      nodes,
      recorder,
      identity: this.#identity,
      clock: this.#clock,
      log: this.#log,
      metrics: this.#metrics,
    })
    this.#background('controllers', (signal) => controllers.run(signal))
  }

  /** Runs a loop until the hub stops. One that ends by itself is a fault: the hub is not healthy any more, and others go on. */
  #background(name: string, run: (signal: AbortSignal) => Promise<void>): void {
    const stopped = new AbortController()
    const running = run(stopped.signal).catch((error: unknown) => {
      if (stopped.signal.aborted) return
      this.#log.error({ part: name, err: error }, 'a part of the hub ended')
      this.#broken.push(name)
    })
    this.#stack.push(name, () => {
      stopped.abort()
      return running
    })
  }
}
