import { resolve } from 'node:path'
import { ConfigError, messageOf } from '@upgrade-hub/core'
import { isNodeName, splitToken } from '@upgrade-hub/pki/identity'
import { PORTS } from '@upgrade-hub/protocol'

/** What a join does, worked out from its arguments before anything is touched. */
export interface JoinPlan {
  readonly nodeName: string
  readonly token: { readonly caHash: string; readonly jwt: string }
  readonly websocket: string
  readonly https: string
  readonly registerNode: boolean
  readonly service: 'systemd' | 'process'
  readonly paths: JoinPaths
}

/** Where everything is, below the root. */
export interface JoinPaths {
  readonly root: string
  readonly ca: string
  readonly cert: string
  readonly key: string
  readonly config: string
  readonly units: string
  readonly agent: string
  readonly agentPid: string
  readonly agentLog: string
  readonly state: string
  readonly etc: string
  readonly run: string
}

export type JoinValues = Readonly<Record<string, string | boolean | undefined>>

const HUB = /^(?<host>[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:(?<port>\d{1,5}))?$/

/** @throws ConfigError that names every mistake */
export function planJoin(values: JoinValues): JoinPlan {
  const problems: string[] = []
  const say = <T>(value: T | undefined, problem: string): T | undefined => {
    if (value === undefined) problems.push(problem)
    return value
  }
  const hub = say(parseHub(values['hub']), '--hub is a host with an optional port')
  const nodeName = say(nodeNameIn(values['node-name']), '--node-name is the name of the Node, in lower case')
  const httpsPort = say(
    portIn(values['https-port'] ?? String(PORTS.https)),
    '--https-port is a number up to 65535',
  )
  const service = say(serviceIn(values['service'] ?? 'systemd'), '--service is systemd or process')
  const token = say(tokenIn(values['token'], problems), '--token is what `cloudhub token create` printed')
  if (!hub || !nodeName || !httpsPort || !service || !token) {
    throw new ConfigError('the command line', problems)
  }
  return {
    nodeName,
    token,
    websocket: `wss://${hub.host}:${hub.port}`,
    https: `https://${hub.host}:${httpsPort}`,
    registerNode: values['register-node'] === true,
    service,
    paths: pathsBelow(resolve(String(values['root'] ?? '/'))),
  }
}

function pathsBelow(root: string): JoinPaths {
  const below = (path: string) => (root === '/' ? path : `${root}${path}`)
  return {
    root,
    ca: below('/etc/kubeedge/edgehub/ca.crt'),
    cert: below('/etc/kubeedge/edgehub/node.crt'),
    key: below('/etc/kubeedge/edgehub/node.key'),
    config: below('/etc/kubeedge/config/edgehub.yaml'),
    units: below('/etc/systemd/system'),
    agent: below('/usr/local/bin/edgecore'),
    agentPid: below('/run/upgrade-hub/edgecore.pid'),
    agentLog: below('/var/log/upgrade-hub/edgecore.log'),
    state: below('/var/lib/upgrade-hub'),
    etc: below('/etc/kubeedge'),
    run: below('/run/upgrade-hub'),
  }
}

function parseHub(value: unknown): { host: string; port: number } | undefined {
  const groups = HUB.exec(typeof value === 'string' ? value : '')?.groups
  const port = portIn(groups?.['port'] ?? String(PORTS.websocket))
  return groups?.['host'] !== undefined && port !== undefined ? { host: groups['host'], port } : undefined
}

function portIn(value: unknown): number | undefined {
  const port = /^\d{1,5}$/.test(String(value)) ? Number(value) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}

function nodeNameIn(value: unknown): string | undefined {
  return typeof value === 'string' && isNodeName(value) ? value : undefined
}

function serviceIn(value: unknown): 'systemd' | 'process' | undefined {
  return value === 'systemd' || value === 'process' ? value : undefined
}

function tokenIn(value: unknown, problems: string[]): { caHash: string; jwt: string } | undefined {
  try {
    return splitToken(typeof value === 'string' ? value : '')
  } catch (error) {
    problems.push(messageOf(error))
    return undefined
  }
}
