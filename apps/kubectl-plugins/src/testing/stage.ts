import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Node, NodeUpgradeJob, NodeUpgradeTask } from '@upgrade-hub/api'
import { FakeClock } from '@upgrade-hub/core/testing'
import { NODES } from '@upgrade-hub/kube'
import { FakeApiServer, SERVER } from '@upgrade-hub/kube/testing'
import { runPlugin } from '../cli/run.ts'
import { JOBS, TASKS } from '../cluster/resources.ts'
import { PLUGINS } from '../plugins.ts'
import { terminalOf } from '../text/terminal.ts'

export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The plugins at a terminal, with an API server that has what a test puts there. Time stands still. */
export class Stage implements AsyncDisposable {
  readonly clock = new FakeClock()
  readonly server: FakeApiServer
  readonly #folder: string

  private constructor(server: FakeApiServer, folder: string) {
    this.server = server
    this.#folder = folder
    server.now = () => this.clock.now()
  }

  static async start(): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'kubectl-plugins-'))
    const stage = new Stage(await FakeApiServer.start(), folder)
    await writeFile(stage.kubeconfig, JSON.stringify(stage.#access()), { mode: 0o600 })
    return stage
  }

  get kubeconfig(): string {
    return join(this.#folder, 'kubeconfig')
  }

  putJob(job: NodeUpgradeJob): void {
    this.server.put(JOBS, job)
  }

  putTasks(...tasks: readonly NodeUpgradeTask[]): void {
    for (const task of tasks) this.server.put(TASKS, task)
  }

  putNodes(...nodes: readonly Node[]): void {
    for (const node of nodes) this.server.put(NODES, node)
  }

  job(name: string): NodeUpgradeJob {
    const found = this.server.objects.get(`/apis/operations.kubeedge.io/v1alpha2/nodeupgradejobs/${name}`)
    if (!found) throw new Error(`there is no job ${name}`)
    return found as unknown as NodeUpgradeJob
  }

  /** `kubectl nodeupgrade …` to its end. `live` is a terminal of so many columns; otherwise a pipe. */
  run(args: readonly string[], options: { live?: number; input?: string } = {}): Promise<Said> {
    return this.#run('nodeupgrade', args, options)
  }

  /** `kubectl create nodeupgradejob …` to its end. */
  create(args: readonly string[]): Promise<Said> {
    return this.#run('create-nodeupgradejob', args, {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true })
  }

  async #run(
    program: string,
    args: readonly string[],
    { live, input = '' }: { live?: number; input?: string },
  ): Promise<Said> {
    const plugin = PLUGINS[program]
    if (!plugin) throw new Error(`there is no plugin ${program}`)
    const texts = { out: '', err: '' }
    const stream = (name: 'out' | 'err') => ({
      isTTY: live !== undefined,
      columns: live ?? 80,
      rows: 24,
      write: (text: string) => {
        texts[name] += text
        return true
      },
    })
    const code = await runPlugin({
      plugin,
      argv: [...args, '--kubeconfig', this.kubeconfig],
      clock: this.clock,
      terminal: terminalOf({ out: stream('out'), err: stream('err'), isPlain: true, isUnicode: true }),
      signal: new AbortController().signal,
      readInput: () => Promise.resolve(input),
    })
    return { code, ...texts }
  }

  #access(): object {
    const cluster = {
      server: this.server.url,
      'certificate-authority-data': Buffer.from(SERVER.ca).toString('base64'),
    }
    return {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      clusters: [{ name: 'test', cluster }],
      users: [{ name: 'test', user: { token: 'test-token' } }],
    }
  }
}
