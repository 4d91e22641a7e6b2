import { mkdtempSync, readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installationFiles } from '../../apps/demo/src/agent.ts'
import { edgehubArgv, edgePaths, makeEdge } from '../../apps/demo/src/edge.ts'
import { makeLayout } from '../../apps/demo/src/image-layout.ts'
import { reap } from '../../apps/demo/src/reaper.ts'
import { type Registry, startRegistry } from '../../apps/demo/src/registry.ts'
import { Cluster } from './cluster.ts'
import { type Plane, writeKubeconfig } from './plane.ts'
import { freePorts } from './ports.ts'
import { Program } from './program.ts'
import { until } from './until.ts'

const HUB_MAIN = fileURLToPath(new URL('../../apps/cloudhub/src/main.ts', import.meta.url))
export const OLD_VERSION = 'v1.9.0'
/** What the registry of a fleet holds. `v1.23.1` does not start with a configuration that says `legacyDeviceTwin`. */
const VERSIONS = ['v1.10.0', 'v1.16.0', 'v1.22.0', 'v1.23.0', 'v1.23.1']

interface Ports {
  readonly websocket: number
  readonly https: number
  readonly metrics: number
  readonly webhook: number
}

/** One edge of a fleet: its processes, and its folder, which stands for the node's file system. */
export interface Edge {
  readonly name: string
  readonly folder: string
  hub: Program | undefined
}

/**
 * A hub process with the rights of manifests/ and real edges (edgehub, edgeadm and agents as processes) on a control
 * plane. Every process belongs to one folder and is gone after `stop`.
 */
export class Fleet extends Cluster {
  readonly folder: string
  readonly registry: Registry
  readonly edges = new Map<string, Edge>()
  readonly ports: Ports
  #hubs: Program[] = []

  private constructor(plane: Plane, folder: string, registry: Registry, ports: Ports) {
    super(plane)
    this.folder = folder
    this.registry = registry
    this.ports = ports
  }

  /** A hub that is ready, and a registry; edges come with `addEdges`. */
  static async start(plane: Plane): Promise<Fleet> {
    const folder = mkdtempSync(join(plane.folder, 'fleet-'))
    const layout = join(folder, 'layout')
    await makeLayout(
      layout,
      Object.fromEntries(VERSIONS.map((version) => [version, installationFiles(version)])),
    )
    const [websocket = 0, https = 0, metrics = 0, webhook = 0] = await freePorts(4)
    const fleet = new Fleet(plane, folder, await startRegistry(layout), {
      websocket,
      https,
      metrics,
      webhook,
    })
    await fleet.startHub()
    return fleet
  }

  get hub(): Program | undefined {
    return this.#hubs.at(-1)
  }

  override get image(): string {
    return `${this.registry.host}/kubeedge/installation-package`
  }

  override get hubLog(): string {
    return this.#hubs.map((hub) => hub.output).join('')
  }

  async startHub(): Promise<void> {
    const flags = Object.entries(this.ports).map(([name, port]) => `--${name}-port=${port}`)
    const hub = new Program('cloudhub', [process.execPath, HUB_MAIN, 'run', ...flags, ...this.#access()])
    this.#hubs.push(hub)
    const answers = async () => (await fetch(`http://127.0.0.1:${this.ports.metrics}/readyz`)).ok
    await until('the hub is ready or has ended', () => (hub.isRunning ? answers() : true), 60_000)
    if (!hub.isRunning) throw new Error(`the hub ended:\n${hub.output.slice(-3000)}`)
  }

  async killHub(): Promise<void> {
    this.hub?.kill('SIGKILL')
    await this.hub?.exited
  }

  /** Enrols and starts edges; resolves when their nodes are Ready. */
  async addEdges(names: readonly string[], agentConfig = 'modules: {}\n'): Promise<Edge[]> {
    const made: Edge[] = []
    for (let at = 0; at < names.length; at += 4) {
      made.push(
        ...(await Promise.all(names.slice(at, at + 4).map((name) => this.#addEdge(name, agentConfig)))),
      )
    }
    for (const name of names) await until(`${name} is Ready`, () => this.isReady(name), 60_000)
    return made
  }

  startEdgehub(edge: Edge): void {
    edge.hub = new Program(`edgehub ${edge.name}`, edgehubArgv(edge.folder))
  }

  async killEdgehub(edge: Edge): Promise<void> {
    edge.hub?.kill('SIGKILL')
    await edge.hub?.exited
  }

  /** The version that the agent's file on the node is, read from the file itself. */
  installed(edge: Edge): string {
    return (
      /const VERSION = "([^"]+)"/.exec(readFileSync(edgePaths(edge.folder).agent, 'utf8'))?.[1] ?? 'no agent'
    )
  }

  /** How often each version of the agent was started, from the agent's own log. */
  starts(edge: Edge): Record<string, number> {
    const starts: Record<string, number> = {}
    for (const [, version = ''] of readFileSync(edgePaths(edge.folder).agentLog, 'utf8').matchAll(
      /edgecore (\S+) started/g,
    )) {
      starts[version] = (starts[version] ?? 0) + 1
    }
    return starts
  }

  async stop(): Promise<void> {
    for (const edge of this.edges.values()) edge.hub?.kill('SIGTERM')
    await Promise.all([...this.edges.values()].flatMap((edge) => edge.hub?.exited ?? []))
    await this.hub?.stop()
    await reap(this.folder)
    await this.registry.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  #access(): string[] {
    return ['--kubeconfig', writeKubeconfig(this.plane, 'hub'), '--advertise-ip', '127.0.0.1']
  }

  async #addEdge(name: string, agentConfig: string): Promise<Edge> {
    const folder = join(this.folder, name)
    await mkdir(folder)
    const { websocket, https } = this.ports
    await makeEdge({
      name,
      folder,
      hub: { host: '127.0.0.1', websocketPort: websocket, httpsPort: https },
      token: await this.token(name),
      registry: this.registry.host,
      version: OLD_VERSION,
      agentConfig,
    })
    const edge: Edge = { name, folder, hub: undefined }
    this.startEdgehub(edge)
    this.edges.set(name, edge)
    return edge
  }
}
