import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { ImageStore, startTestRegistry, type TestRegistry } from '@upgrade-hub/oci/testing'
import { type AttemptView, openAttemptStore, openSpool } from '@upgrade-hub/upgrader'
import { type AgentKind, agentProgram, createNode, type NodeFixture } from '@upgrade-hub/upgrader/testing'
import { stringify } from 'yaml'
import type { FakeHub } from './fake-hub.ts'

export const MAIN = fileURLToPath(new URL('../../../apps/edgehub/src/main.ts', import.meta.url))
/** edgehub is started a hundred times: compile it once. */
const CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/edgehub', import.meta.url)),
}
export const OLD = 'v1.0.0'
export const NEW = 'v1.1.0'
export const NEXT = 'v1.2.0'

/** A registry with images of the two newer versions. */
export async function startRegistry(
  kind: AgentKind = 'good',
): Promise<{ registry: TestRegistry; image: string }> {
  const images = new ImageStore()
  for (const version of [NEW, NEXT]) {
    await images.publish(version, [{ name: 'usr/local/bin/edgecore', content: agentProgram(version, kind) }])
  }
  const registry = await startTestRegistry(images)
  return { registry, image: `${registry.host}/kubeedge/installation-package` }
}

/** A node with a running agent and edgehub as a process of its own, which a test kills and starts as it likes. */
export class EdgeNode {
  readonly fixture: NodeFixture
  readonly configPath: string
  log = ''
  #process: ChildProcess | undefined

  private constructor(fixture: NodeFixture, configPath: string) {
    this.fixture = fixture
    this.configPath = configPath
  }

  static async create(hub: FakeHub, registry: string, more: object = {}): Promise<EdgeNode> {
    const fixture = await createNode({ version: OLD, registry })
    const addresses = { websocket: hub.websocket, https: hub.https }
    const certificates = await hub.enrol()
    const config = { ...fixture.config, hub: addresses, certificates, ...more }
    await writeFile(fixture.configPath, stringify(config))
    return new EdgeNode(fixture, fixture.configPath)
  }

  /** `main` takes the configuration as its last argument. */
  start(main: readonly string[] = [MAIN, '--config']): void {
    const child = spawn(process.execPath, [...main, this.configPath], {
      env: CACHE,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.log += text
      })
    }
    this.#process = child
  }

  /** Ends edgehub; `SIGKILL` as a crash does. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#process
    this.#process = undefined
    if (!child || child.exitCode !== null) return child?.exitCode ?? null
    const closed = once(child, 'close')
    child.kill(signal)
    return ((await closed) as [number | null])[0]
  }

  async view(id: string): Promise<AttemptView | undefined> {
    return openAttemptStore(this.fixture.config).attempt(id)
  }

  spooled(): Promise<number> {
    return openSpool(this.fixture.config).size()
  }

  async remove(): Promise<void> {
    await this.end('SIGKILL')
    await this.fixture.remove()
  }
}
