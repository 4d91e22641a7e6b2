import { readFile } from 'node:fs/promises'
import { ConfigError } from '@upgrade-hub/core'
import { parseEdgeConfig } from '@upgrade-hub/upgrader'
import { parseDocument } from 'yaml'
import type { JoinPlan } from './plan.ts'

/** The installed programs of this release, by absolute path, and the Node that runs them. */
export interface Release {
  readonly runner: string
  readonly edgehub: string
  readonly edgeadm: string
}

/**
 * The text of edgehub.yaml. A file that is there keeps what an operator wrote, comments too; only the hub, the name and
 * the certificates are set anew. @throws ConfigError when the result would not be valid
 */
export function configText(plan: JoinPlan, existing: string | undefined, release?: Release): string {
  const { paths } = plan
  const document = parseDocument(existing ?? '')
  if (document.errors.length > 0) {
    throw new ConfigError(
      paths.config,
      document.errors.map(({ message }) => message),
    )
  }
  const settings: [string, unknown][] = [
    ['nodeName', plan.nodeName],
    ['hub', { websocket: plan.websocket, https: plan.https }],
    ['certificates', { ca: paths.ca, cert: paths.cert, key: paths.key }],
    ['registerNode', plan.registerNode],
  ]
  if (existing === undefined) settings.push(...firstSettings(plan, release))
  for (const [key, value] of settings) document.set(key, document.createNode(value))
  const text = document.toString({ lineWidth: 0 })
  parseEdgeConfig(text, paths.config)
  return text
}

/** What is chosen once, when there is no file yet. */
function firstSettings({ paths, service }: JoinPlan, release: Release | undefined): [string, unknown][] {
  const unit = { manager: 'systemd', unit: 'edgecore.service' }
  const process = { manager: 'process', args: [], pidFile: paths.agentPid, logFile: paths.agentLog }
  return [
    [
      'components',
      [
        { name: 'edgecore', binary: paths.agent, service: service === 'systemd' ? unit : process },
        ...(release && service === 'systemd' ? [ownComponent(release)] : []),
      ],
    ],
    ['paths', { state: paths.state, etc: paths.etc, run: paths.run }],
    ['detach', service === 'systemd' ? 'systemd' : 'session'],
  ]
}

/** This release itself, so that a job can upgrade it like the agent. */
function ownComponent({ runner, edgehub, edgeadm }: Release): object {
  const service = { manager: 'systemd', unit: 'edgehub.service' }
  return { name: 'edgehub', binary: edgehub, companions: [edgeadm], runner, service }
}

/** The text of a file; undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
