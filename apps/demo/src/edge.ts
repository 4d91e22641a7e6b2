import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@upgrade-hub/core'
import { createService, loadEdgeConfig, runProgram } from '@upgrade-hub/upgrader'
import { stringify } from 'yaml'
import { agentProgram } from './agent.ts'

const EDGEADM = fileURLToPath(new URL('../../edgeadm/src/main.ts', import.meta.url))
const EDGEHUB = fileURLToPath(new URL('../../edgehub/src/main.ts', import.meta.url))
const JOIN_TIMEOUT_MS = 30_000

/** A node of the demo: a folder that stands for its file system. */
export interface EdgePlan {
  readonly name: string
  readonly folder: string
  readonly hub: { readonly host: string; readonly websocketPort: number; readonly httpsPort: number }
  /** From `cloudhub token create`. */
  readonly token: string
  /** host:port of the registry; everything that is pulled from docker.io comes from there. */
  readonly registry: string
  /** The version that runs before any upgrade. */
  readonly version: string
  /** edgecore.yaml: what the agent reads. */
  readonly agentConfig: string
}

/** Paths of an edge in its folder, as on a real node below `/`. */
export function edgePaths(folder: string) {
  return {
    config: join(folder, 'etc/kubeedge/config/edgehub.yaml'),
    agent: join(folder, 'usr/local/bin/edgecore'),
    keadm: join(folder, 'usr/local/bin/keadm'),
    agentConfig: join(folder, 'etc/kubeedge/config/edgecore.yaml'),
    agentLog: join(folder, 'var/log/edgecore.log'),
    agentPid: join(folder, 'run/edgecore.pid'),
  }
}

/** argv of the daemon of an edge. */
export function edgehubArgv(folder: string): [string, ...string[]] {
  return [process.execPath, EDGEHUB, '--config', edgePaths(folder).config]
}

/** Puts the old agent into the folder, enrols the node with its token, and starts the agent. */
export async function makeEdge(plan: EdgePlan): Promise<void> {
  const paths = edgePaths(plan.folder)
  await writeProgram(paths.agent, agentProgram(plan.version))
  await writeProgram(paths.keadm, `#!${process.execPath}\n`)
  await write(paths.agentConfig, plan.agentConfig)
  await write(paths.config, stringify(edgeConfig(plan)))
  const { host, websocketPort, httpsPort } = plan.hub
  const argv = [EDGEADM, 'join', '--hub', `${host}:${websocketPort}`, '--https-port', String(httpsPort)]
  const node = ['--node-name', plan.name, '--register-node', '--service', 'process', '--root', plan.folder]
  await runProgram(process.execPath, [...argv, ...node, '--token', plan.token], {
    timeoutMs: JOIN_TIMEOUT_MS,
  })
  await startAgent(plan.folder)
}

/** Starts the agent as the node's own supervisor would at boot; harmless when it runs. */
async function startAgent(folder: string): Promise<void> {
  const { components } = await loadEdgeConfig(edgePaths(folder).config)
  for (const component of components) await createService(component, systemClock).start()
}

/** What an operator sets once; `join` adds the hub, the name and the certificates. */
function edgeConfig({ folder, registry, name, hub }: EdgePlan): object {
  const paths = edgePaths(folder)
  const service = {
    manager: 'process',
    args: ['--config', paths.agentConfig],
    pidFile: paths.agentPid,
    logFile: paths.agentLog,
  }
  return {
    nodeName: name,
    hub: {
      websocket: `wss://${hub.host}:${hub.websocketPort}`,
      https: `https://${hub.host}:${hub.httpsPort}`,
    },
    registry: { plainHttp: [registry], mirrors: { 'docker.io': [registry] } },
    components: [
      {
        name: 'edgecore',
        binary: paths.agent,
        companions: [paths.keadm],
        service,
        state: { config: paths.agentConfig },
      },
    ],
    paths: {
      state: join(folder, 'var/lib/upgrade-hub'),
      etc: join(folder, 'etc/kubeedge'),
      run: join(folder, 'run/upgrade-hub'),
    },
    detach: 'session',
  }
}

async function writeProgram(path: string, text: string): Promise<void> {
  await write(path, text)
  await chmod(path, 0o755)
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
