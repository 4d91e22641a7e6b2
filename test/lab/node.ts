import { stringify } from 'yaml'
import { until } from '../harness/until.ts'
import { type AgentKind, EDGECORE_UNIT, edgecore, keadm } from './agent.ts'
import type { Host } from './host.ts'
import { CLOUD_ADDRESS } from './network.ts'
import { CREDENTIALS, REGISTRY } from './registry.ts'

const AGENT = '/usr/local/bin/edgecore'
const KEADM = '/usr/local/bin/keadm'
const AGENT_CONFIG = '/etc/kubeedge/config/edgecore.yaml'
const DATABASE = '/var/lib/kubeedge/edgecore.db'
const REGISTRY_CA = '/etc/kubeedge/registry-ca.crt'
const REGISTRY_LOGIN = '/etc/kubeedge/registry.json'
const ATTEMPTS = '/var/lib/upgrade-hub/attempts'
const UNIT = '/etc/systemd/system/edgecore.service'

export interface Provision {
  readonly version: string
  readonly kind: AgentKind
  readonly registryCa: string
}

/** A host that is an edge node: what an operator puts on it, does on it, and reads from it. */
export class LabNode {
  readonly host: Host
  /** In its site; nothing outside can reach it. */
  readonly address: string
  /** The Node that our package brings. */
  readonly program: string

  constructor(options: { host: Host; address: string; node: string }) {
    this.host = options.host
    this.address = options.address
    this.program = options.node
  }

  get name(): string {
    return this.host.name
  }

  /** An installed edgecore, its unit, and what of edgehub's configuration an operator writes by hand. */
  async provision({ version, kind, registryCa }: Provision): Promise<void> {
    const { host } = this
    await host.write(AGENT, edgecore(this.program, version, kind), 0o755)
    await host.write(KEADM, keadm(this.program, version), 0o755)
    await host.write(AGENT_CONFIG, 'modules: {}\n')
    await host.write(UNIT, EDGECORE_UNIT)
    await host.link('/etc/systemd/system/multi-user.target.wants/edgecore.service', UNIT)
    await host.write(REGISTRY_CA, registryCa)
    await host.write(REGISTRY_LOGIN, CREDENTIALS, 0o600)
    await host.write('/etc/kubeedge/config/edgehub.yaml', stringify(edgehubConfig(this.name)), 0o600)
    await host.sync()
  }

  /** `edgeadm join` as the README has it: the token on standard input. */
  async join(token: string): Promise<void> {
    const { code, output } = await this.host.runWith(
      token,
      '/usr/local/bin/edgeadm',
      ...['join', '--hub', CLOUD_ADDRESS, '--node-name', this.name, '--register-node', '--token', '-'],
    )
    if (code !== 0) throw new Error(`${this.name} cannot join: ${output}`)
  }

  /** What the installed program says it is. */
  async version(): Promise<string> {
    return (await this.host.must(AGENT, '--version')).trim().replace('KubeEdge ', '')
  }

  async isAgentRunning(): Promise<boolean> {
    return (await this.host.run('systemctl', 'is-active', 'edgecore.service')).stdout.trim() === 'active'
  }

  /** The last step that the journal of a job's attempt tells, whether the host is on or off. */
  async step(job: string): Promise<string | undefined> {
    const [folder] = this.host.list(ATTEMPTS).filter((name) => name.startsWith(`${job}-`))
    if (folder === undefined || !this.host.has(`${ATTEMPTS}/${folder}/journal.jsonl`)) return undefined
    const last =
      (await this.host.read(`${ATTEMPTS}/${folder}/journal.jsonl`)).trimEnd().split('\n').at(-1) ?? ''
    return /"step":"(\w+)"\}$/.exec(last)?.[1]
  }

  /** Waits until an attempt has come to a step. */
  async reaches(job: string, ...steps: readonly string[]): Promise<void> {
    const isThere = async () => steps.includes((await this.step(job)) ?? '')
    await until(`${this.name} is at ${steps.join(' or ')} of ${job}`, isThere, 30_000)
  }

  /** From now on every updater of this boot ends itself at that point. */
  async dieAt(point: string): Promise<void> {
    await this.host.must('systemctl', 'set-environment', `UPGRADE_HUB_FAULT=${point}:kill`)
  }

  /** The version of every start of the agent, in order. */
  async starts(): Promise<readonly string[]> {
    return (await this.host.read('/var/lib/kubeedge/starts.log')).trim().split('\n')
  }
}

function edgehubConfig(nodeName: string): object {
  return {
    nodeName,
    // `join` puts the real ones here.
    hub: { websocket: 'wss://unknown', https: 'https://unknown' },
    certificates: { ca: '/ca', cert: '/cert', key: '/key' },
    registry: { caFile: REGISTRY_CA, credentialsFile: REGISTRY_LOGIN, allow: [REGISTRY] },
    components: [
      {
        name: 'edgecore',
        binary: AGENT,
        companions: [KEADM],
        service: { manager: 'systemd', unit: 'edgecore.service' },
        state: { config: AGENT_CONFIG, db: DATABASE },
      },
    ],
  }
}
