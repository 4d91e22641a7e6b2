import { mkdirSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makePackage } from '../../apps/node-package/src/package.ts'
import { Cluster } from '../harness/cluster.ts'
import { type Plane, writeKubeconfig } from '../harness/plane.ts'
import { Program, run } from '../harness/program.ts'
import { until } from '../harness/until.ts'
import type { AgentKind } from './agent.ts'
import { Disk } from './disk.ts'
import { Host } from './host.ts'
import { publish } from './images.ts'
import { CLOUD_ADDRESS, Network } from './network.ts'
import { LabNode } from './node.ts'
import { type LabRegistry, REGISTRY, startRegistry } from './registry.ts'
import { relay } from './relay.ts'
import { debianRoot } from './root.ts'
import { must } from './tools.ts'

const HUB_MAIN = fileURLToPath(new URL('../../apps/cloudhub/src/main.ts', import.meta.url))
const RELAY = fileURLToPath(new URL('relay.ts', import.meta.url))
const READY_MS = 60_000

/** A hub and a registry in a cloud of their own, and systemd hosts behind a router that lets nobody in. */
export class Lab extends Cluster {
  readonly network: Network
  readonly folder: string
  readonly #run: string
  /** What hosts have below their own disk, highest first: our package, unpacked, and Debian. */
  readonly #layers: readonly string[]
  readonly #nodeProgram: string
  readonly #programs: Program[] = []
  readonly #hosts: Host[] = []
  readonly #api: Server
  #registry: LabRegistry | undefined
  #hub: Program | undefined

  private constructor(plane: Plane, parts: Parts) {
    super(plane)
    this.folder = parts.folder
    this.network = parts.network
    this.#run = parts.run
    this.#layers = parts.layers
    this.#nodeProgram = parts.node
    this.#api = parts.api
  }

  static async start(plane: Plane): Promise<Lab> {
    const folder = mkdtempSync(join(tmpdir(), 'uh-lab-'))
    const id = `uh${process.pid.toString(36)}${Math.random().toString(36).slice(2, 5)}`
    const [debian, unpacked] = await Promise.all([debianRoot(console.log), unpackPackage(folder)])
    const network = await Network.create(id)
    const api = await relay(join(folder, 'api.sock'), Number(new URL(plane.url).port))
    const { node, layer } = unpacked
    const lab = new Lab(plane, { folder, run: id, network, layers: [layer, debian], node, api })
    try {
      await lab.#startCloud()
      return lab
    } catch (error) {
      await lab.stop()
      throw error
    }
  }

  override get image(): string {
    return `${REGISTRY}/kubeedge/installation-package`
  }

  override get hubLog(): string {
    return this.#hub?.output ?? ''
  }

  async publish(version: string, kind: AgentKind = 'good'): Promise<void> {
    const folder = join(this.folder, 'images')
    const trust = this.#registry?.trust ?? ''
    await publish({ folder, trust, namespace: this.network.cloud, node: this.#nodeProgram, version, kind })
  }

  /** A booted host with an old edgecore that runs, joined to the hub; its Node is Ready. */
  async addNode(name: string, version: string, kind: AgentKind = 'good'): Promise<LabNode> {
    const node = await this.addHost(name, version, kind)
    await node.join(await this.token(name))
    await until(`${name} is Ready`, () => this.isReady(name), READY_MS)
    return node
  }

  /** The same without a hub. */
  async addHost(name: string, version: string, kind: AgentKind = 'good'): Promise<LabNode> {
    const { path, address } = await this.network.addNode(name)
    const disk = await Disk.create(join(this.folder, name), this.#layers)
    const host = new Host({ id: `${this.#run}-${name}`, name, disk, network: path })
    this.#hosts.push(host)
    const node = new LabNode({ host, address, node: this.#nodeProgram })
    await node.provision({ version, kind, registryCa: this.#registry?.ca ?? '' })
    await host.boot()
    return node
  }

  /** Runs a program in the cloud's namespace, as somebody there would. */
  fromCloud(...argv: [string, ...string[]]): ReturnType<typeof run> {
    return run(['nsenter', `--net=/run/netns/${this.network.cloud}`, '--', ...argv])
  }

  async stop(): Promise<void> {
    for (const host of this.#hosts) await host.remove()
    for (const program of this.#programs.toReversed()) await program.stop()
    this.#api.close()
    await this.network.remove()
    await rm(this.folder, { recursive: true, force: true })
  }

  async #startCloud(): Promise<void> {
    const { port } = new URL(this.plane.url)
    const gate = this.#inCloud('relay', [process.execPath, RELAY, port, join(this.folder, 'api.sock')])
    await gate.says(/relaying/)
    this.#registry = await startRegistry(join(this.folder, 'registry'), this.network.cloud)
    this.#programs.push(this.#registry.program)
    const access = ['--kubeconfig', writeKubeconfig(this.plane, 'hub'), '--advertise-ip', CLOUD_ADDRESS]
    this.#hub = this.#inCloud('cloudhub', [process.execPath, HUB_MAIN, 'run', ...access])
    await this.#hub.says(/"the hub is ready"/, READY_MS)
  }

  #inCloud(name: string, argv: readonly string[]): Program {
    const program = new Program(name, ['nsenter', `--net=/run/netns/${this.network.cloud}`, '--', ...argv])
    this.#programs.push(program)
    return program
  }
}

interface Parts {
  readonly folder: string
  readonly run: string
  readonly network: Network
  readonly layers: readonly string[]
  readonly node: string
  readonly api: Server
}

/** What `npm run package` makes, unpacked as its page says; and the path of its Node on a host. */
async function unpackPackage(folder: string): Promise<{ layer: string; node: string }> {
  const { archive, version } = await makePackage({ into: join(folder, 'dist'), node: process.execPath })
  const layer = join(folder, 'package')
  mkdirSync(layer)
  await must('tar', '-C', layer, '-xzf', archive)
  await rm(archive)
  return { layer, node: `/usr/local/lib/upgrade-hub/${version}/bin/node` }
}
