import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { type Plane, type UserName, writeKubeconfig } from './plane.ts'
import { Program } from './program.ts'

const MAIN = fileURLToPath(new URL('../../apps/cloudhub/src/main.ts', import.meta.url))
const READY_MS = 60_000

export interface HubOptions {
  /** Whose rights it has; `hub` has those of the manifests. */
  readonly as?: UserName
  /** Laid over the test's own settings; ports are free ones where nothing is said. */
  readonly config?: Readonly<Record<string, unknown>>
}

/** Where a hub listens. */
export interface HubPorts {
  readonly metrics: number
  readonly websocket: number
  readonly https: number
  readonly webhooks: number
}

export interface RunningHub {
  readonly program: Program
  readonly ports: HubPorts
}

/** cloudhub as a process of its own, as in a cluster; ready when it resolves. `program.kill()` is its kill -9. */
export async function startHub(
  plane: Plane,
  { as = 'hub', config = {} }: HubOptions = {},
): Promise<RunningHub> {
  const file = join(mkdtempSync(join(plane.folder, 'cloudhub-')), 'hub.yaml')
  const settings = {
    logLevel: 'debug',
    kubernetes: { kubeconfig: writeKubeconfig(plane, as) },
    listen: { host: '127.0.0.1', websocketPort: 0, httpsPort: 0, webhookPort: 0, metricsPort: 0 },
    ...config,
  }
  writeFileSync(file, stringify(settings))
  const program = new Program('cloudhub', [process.execPath, MAIN, 'run', '--config', file])
  try {
    const [line] = await program.says(/^.*"the hub is ready".*$/m, READY_MS)
    return { program, ports: (JSON.parse(line) as { ports: HubPorts }).ports }
  } catch (error) {
    program.kill()
    throw error
  }
}
