import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { noMetrics, silentLogger, systemClock } from '@upgrade-hub/core'
import {
  connect,
  EventRecorder,
  Informer,
  type KubeClient,
  KubeError,
  NODES,
  type Node,
} from '@upgrade-hub/kube'
import { isFinished, type SlimNode, slimNode } from '@upgrade-hub/rollout'
import { JOBS, TASKS } from '../../kube-api.ts'
import { type EmbeddedApi, furnish, startEmbeddedApi } from '../../setup/embedded-api.ts'
import { startControllers } from '../index.ts'
import { type Fate, faultyClient, type Write } from './faulty-client.ts'
import { ScriptedEdges } from './scripted-edges.ts'

const PARTS = { clock: systemClock, log: silentLogger }
const DEADLINE_MS = 45_000

/** A real API server, edges that answer at once, and controllers that a test starts, meddles with and stops. */
export class Stage {
  readonly client: KubeClient
  readonly edges: ScriptedEdges
  /** Writes of the controllers that were done. */
  readonly written: Write[] = []
  fateOf: (write: Write) => Fate = () => 'done'
  readonly #api: EmbeddedApi
  readonly #folder: string
  readonly #stop = new AbortController()
  readonly #running: Promise<void>[] = []
  #leader: { stop: AbortController; ended: Promise<void> } | undefined
  #jobs = 0

  private constructor(api: EmbeddedApi, folder: string, client: KubeClient) {
    this.#api = api
    this.#folder = folder
    this.client = client
    this.edges = new ScriptedEdges(client)
    this.#running.push(this.edges.run(this.#stop.signal))
  }

  static async open(): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'controllers-'))
    const api = await startEmbeddedApi({ enabled: true, dataDir: folder, port: 0 }, PARTS)
    const client = await connect({ kubeconfig: api.kubeconfig, ...PARTS })
    await furnish(client, PARTS)
    return new Stage(api, folder, client)
  }

  async close(): Promise<void> {
    await this.stopLeading()
    this.#stop.abort(new Error('the stage closes'))
    await Promise.allSettled(this.#running)
    await this.client.close()
    await this.#api.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Starts controllers as a new process would: with nothing but what is stored. */
  lead(planDelayMs = 0): void {
    const stop = new AbortController()
    const client = faultyClient(
      this.client,
      (write) => this.fateOf(write),
      (write) => this.written.push(write),
    )
    const nodes = new Informer<Node, SlimNode>({ client, resource: NODES, project: slimNode, ...PARTS })
    const reporter = { reportingController: 'upgradehub.io/hub', reportingInstance: 'test' }
    const recorder = new EventRecorder({ client: this.client, ...reporter, ...PARTS })
    const identity = `hub-${Math.random().toString(36).slice(2)}`
    const controllers = startControllers({
      client,
      nodes,
      recorder,
      identity,
      metrics: noMetrics,
      planDelayMs,
      ...PARTS,
    })
    const ended = Promise.all([nodes.run(stop.signal), controllers.run(stop.signal)]).then(() =>
      recorder.flush(),
    )
    this.#leader = { stop, ended }
  }

  async stopLeading(): Promise<void> {
    this.#leader?.stop.abort(new Error('the process ends'))
    await this.#leader?.ended
    this.#leader = undefined
  }

  async addNodes(count: number, more: object = {}): Promise<string[]> {
    const from = ++this.#jobs
    const names = Array.from({ length: count }, (_, at) => `node-${from}-${at}`)
    for (const name of names) {
      const labels = { 'node-role.kubernetes.io/edge': '' }
      await this.client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, ...more })
      const conditions = [{ type: 'Ready', status: 'True' }]
      const nodeInfo = {
        kubeletVersion: 'v1.28.6-kubeedge-v1.11.0',
        architecture: 'amd64',
        operatingSystem: 'linux',
      }
      await this.client.patch(NODES, name, { status: { conditions, nodeInfo } }, { subresource: 'status' })
    }
    return names
  }

  async createJob(nodeNames: readonly string[], spec: NodeUpgradeJob['spec'] = {}): Promise<string> {
    const name = `job-${++this.#jobs}`
    await this.client.create(JOBS, {
      apiVersion: 'operations.kubeedge.io/v1alpha2',
      kind: 'NodeUpgradeJob',
      metadata: { name },
      spec: { version: 'v1.12.0', nodeNames: [...nodeNames], concurrency: nodeNames.length, ...spec },
    })
    return name
  }

  job(name: string): Promise<NodeUpgradeJob> {
    return this.client.get(JOBS, name)
  }

  async tasks(job: string): Promise<NodeUpgradeTask[]> {
    return (await this.client.list(TASKS, { fieldSelector: `spec.jobName=${job}` })).items
  }

  node(name: string): Promise<Node> {
    return this.client.get(NODES, name)
  }

  finished(name: string): Promise<NodeUpgradeJob> {
    return this.until(`the end of ${name}`, async () => {
      const job = await this.job(name)
      return isFinished(job) ? job : undefined
    })
  }

  async isGone(name: string): Promise<boolean> {
    try {
      await this.job(name)
      return false
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return true
      throw error
    }
  }

  /** Looks until something is found. */
  async until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
    const end = systemClock.monotonic() + DEADLINE_MS
    for (;;) {
      const found = await look()
      if (found) return found
      if (systemClock.monotonic() > end) throw new Error(`${what} did not come in time`)
      await systemClock.sleep(25)
    }
  }
}
