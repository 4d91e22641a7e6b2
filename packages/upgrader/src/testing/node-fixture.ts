import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '@upgrade-hub/core'
import type { Prepare } from '@upgrade-hub/protocol'
import { stringify } from 'yaml'
import { type Component, type EdgeConfig, parseEdgeConfig } from '../config.ts'
import { createService } from '../service/service.ts'
import { agentProgram } from './fake-agent.ts'

/** A whole edge node in one temporary folder. */
export interface NodeFixture {
  readonly root: string
  readonly config: EdgeConfig
  readonly configPath: string
  readonly component: Component
  /** `{version}` of every start of the agent, in order. */
  starts(): Promise<readonly string[]>
  /** Stops the agent and removes everything. */
  remove(): Promise<void>
}

export interface NodeOptions {
  readonly version?: string
  /** `host:port` of the registry, asked by HTTP. */
  readonly registry?: string
  /** More of the configuration of registries. */
  readonly registrySettings?: object
  readonly https?: string
  readonly certificates?: EdgeConfig['certificates']
  /** What is installed; a good agent of `version` when absent. */
  readonly program?: string
  /** More of the component, with paths below the node's root. */
  readonly component?: (root: string) => object
  /** False leaves the starting of the agent to the test. */
  readonly isStarted?: boolean
}

/** Makes a node with an installed agent that runs. */
export async function createNode(options: NodeOptions = {}): Promise<NodeFixture> {
  const root = await mkdtemp(join(tmpdir(), 'upgrade-hub-node-'))
  const configPath = join(root, 'etc/config/edgehub.yaml')
  const startsLog = join(root, 'starts.log')
  const text = stringify(configOf(root, startsLog, options))
  const config = parseEdgeConfig(text)
  await put(configPath, text, 0o600)
  const [component] = config.components
  if (!component) throw new Error('a node without a component')
  await put(component.binary, options.program ?? agentProgram(options.version ?? 'v1.0.0'), 0o755)
  await put(startsLog, '', 0o644)
  const starts = async () =>
    (await readFile(startsLog, 'utf8'))
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' ')[0] ?? '')
  if (options.isStarted !== false) {
    await createService(component, systemClock).start()
    // A program of the test's own need not say that it has started.
    while (!options.program && (await starts()).length === 0) await systemClock.sleep(5)
  }
  return {
    root,
    config,
    configPath,
    component,
    starts,
    remove: async () => {
      await createService(component, systemClock).stop()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** A valid intent `prepare` for such a node. */
export function prepareFor(options: Partial<Prepare> & { readonly Image: string }): Prepare {
  const Task = options.Task ?? 'job-1'
  const Attempt = options.Attempt ?? 1
  return {
    UpgradeID: 'job',
    HistoryID: `${Task}.${Attempt}`,
    Version: 'v1.1.0',
    UpgradeTool: 'keadm',
    ImageDigest: '',
    RequireConfirmation: false,
    Task,
    TaskUID: 'a1b2c3',
    NodeUID: 'node-uid',
    Attempt,
    IntentSeq: 1,
    Component: 'edgecore',
    Purpose: 'Upgrade',
    CheckItems: [],
    Health: { minReadySeconds: 1 },
    Timeouts: {
      checkSeconds: 60,
      downloadSeconds: 60,
      confirmSeconds: 60,
      upgradeSeconds: 60,
      rollbackSeconds: 60,
      verifySeconds: 60,
    },
    VersionPolicy: 'UpgradeOnly',
    Digests: {},
    ...options,
  }
}

function configOf(
  root: string,
  startsLog: string,
  { registry, registrySettings, https, certificates, component }: NodeOptions,
): object {
  return {
    nodeName: 'edge-1',
    hub: { websocket: 'wss://127.0.0.1:1', https: https ?? 'https://127.0.0.1:1' },
    certificates: certificates ?? { ca: join(root, 'ca'), cert: join(root, 'cert'), key: join(root, 'key') },
    registry: { plainHttp: registry ? [registry] : [], ...registrySettings },
    components: [
      {
        name: 'edgecore',
        binary: join(root, 'bin/edgecore'),
        service: {
          manager: 'process',
          args: [startsLog],
          pidFile: join(root, 'run/edgecore.pid'),
          logFile: join(root, 'log/edgecore.log'),
        },
        stopSeconds: 1,
        ...component?.(root),
      },
    ],
    paths: { state: join(root, 'state'), etc: join(root, 'etc'), run: join(root, 'run') },
    detach: 'session',
  }
}

async function put(path: string, content: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
  await chmod(path, mode)
}
