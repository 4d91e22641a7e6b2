import type { ChildProcess } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { silentLogger, systemClock } from '@upgrade-hub/core'
import { connect, type KubeClient, NODES } from '@upgrade-hub/kube'
import { runProgram } from '@upgrade-hub/upgrader'
import { stringify } from 'yaml'
import { installationFiles } from './agent.ts'
import { startLogged } from './children.ts'
import { edgehubArgv, makeEdge } from './edge.ts'
import { makeLayout } from './image-layout.ts'
import { NEW_VERSION, OLD_VERSION } from './job.ts'
import { type Registry, startRegistry } from './registry.ts'

const HUB_MAIN = fileURLToPath(new URL('../../cloudhub/src/main.ts', import.meta.url))
const START_MS = 60_000
export const EDGES = ['edge-1', 'edge-2', 'edge-3', 'edge-4', 'edge-5']
/** Its configuration has a field that the new version no longer knows, so the new agent ends a moment after its start. */
export const UNLUCKY = 'edge-5'

/** Everything that the demo runs on: a hub with the embedded API, a registry, five nodes. */
export interface World {
  readonly client: KubeClient
  readonly kubeconfig: string
  readonly registry: Registry
  edgeFolder(name: string): string
}

export interface WorldOptions {
  /** Made anew. */
  readonly folder: string
  /** Is told each step in a few words. */
  readonly say: (step: string) => void
  /** Takes what has to be closed in this process; the others are the reaper's. */
  readonly cleanup: AsyncDisposableStack
}

export async function makeWorld({ folder, say, cleanup }: WorldOptions): Promise<World> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'logs'), { recursive: true })
  const layout = join(folder, 'registry')
  const versions = [OLD_VERSION, NEW_VERSION].map((version) => [version, installationFiles(version)] as const)
  await makeLayout(layout, Object.fromEntries(versions))
  const registry = await startRegistry(layout)
  cleanup.defer(() => registry.stop())
  say(`an OCI registry with ${OLD_VERSION} and ${NEW_VERSION} of the agent on ${registry.host}`)
  const hub = await startHub(folder)
  const client = await connect({ kubeconfig: hub.kubeconfig, clock: systemClock, log: silentLogger })
  cleanup.defer(() => client.close())
  say('a hub with the embedded Kubernetes API')
  const edgeFolder = (name: string) => join(folder, 'edges', name)
  const tokens = await createTokens(hub)
  const shared = { folder, hub, registry: registry.host }
  await Promise.all(EDGES.map((name, i) => startEdge({ ...shared, name, token: tokens[i] ?? '' })))
  await Promise.all(EDGES.map((name) => nodeReady(client, name)))
  say(`five edge nodes that run ${OLD_VERSION}, each enrolled with its own token`)
  return { client, kubeconfig: hub.kubeconfig, registry, edgeFolder }
}

interface HubProcess {
  readonly config: string
  readonly kubeconfig: string
  readonly websocketPort: number
  readonly httpsPort: number
}

async function startHub(folder: string): Promise<HubProcess> {
  const [embedded = 0, websocketPort = 0, httpsPort = 0, webhookPort = 0, metricsPort = 0] =
    await freePorts(5)
  const config = join(folder, 'hub.yaml')
  const settings = {
    embedded: { enabled: true, dataDir: folder, port: embedded },
    listen: { host: '127.0.0.1', websocketPort, httpsPort, webhookPort, metricsPort },
    webhooks: { url: `https://127.0.0.1:${webhookPort}` },
  }
  await writeFile(config, stringify(settings))
  const child = startLogged(
    [process.execPath, HUB_MAIN, 'run', '--config', config],
    join(folder, 'logs/hub.log'),
  )
  const isReady = async () => (await fetch(`http://127.0.0.1:${metricsPort}/readyz`)).ok
  await eventually('the hub is ready', isReady, child)
  return { config, kubeconfig: join(folder, 'kubeconfig'), websocketPort, httpsPort }
}

async function createTokens(hub: HubProcess): Promise<string[]> {
  const nodes = EDGES.flatMap((name) => ['--node', name])
  const access = ['--kubeconfig', hub.kubeconfig, '--log-level=error']
  const argv = [HUB_MAIN, 'token', 'create', ...nodes, ...access]
  return (await runProgram(process.execPath, argv, { timeoutMs: START_MS })).trim().split('\n')
}

interface EdgeStart {
  readonly folder: string
  readonly hub: HubProcess
  readonly registry: string
  readonly name: string
  readonly token: string
}

async function startEdge({ folder, hub, registry, name, token }: EdgeStart): Promise<void> {
  const edge = join(folder, 'edges', name)
  await mkdir(edge, { recursive: true })
  await makeEdge({
    name,
    folder: edge,
    hub: { host: '127.0.0.1', ...hub },
    token,
    registry,
    version: OLD_VERSION,
    agentConfig: name === UNLUCKY ? 'modules:\n  legacyDeviceTwin: { enable: true }\n' : 'modules: {}\n',
  })
  startLogged(edgehubArgv(edge), join(folder, `logs/${name}.log`))
}

async function nodeReady(client: KubeClient, name: string): Promise<void> {
  await eventually(`${name} is Ready`, async () => {
    const { status } = await client.get(NODES, name)
    return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True')
  })
}

async function eventually(
  what: string,
  check: () => Promise<boolean | undefined>,
  child?: ChildProcess,
): Promise<void> {
  const end = performance.now() + START_MS
  for (;;) {
    if (await check().catch(() => false)) return
    if (child && child.exitCode !== null)
      throw new Error(`not to be had: ${what}. The process ended; see its log`)
    if (performance.now() > end) throw new Error(`not within ${START_MS / 1000} s: ${what}`)
    await systemClock.sleep(100)
  }
}

/** Ports that were free a moment ago, held all at once so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
