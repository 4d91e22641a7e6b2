import { parseArgs } from 'node:util'
import { ConfigError, messageOf } from '@upgrade-hub/core'

type Kind = 'text' | 'number' | 'flag' | 'list'

/** One setting that a flag and an environment variable may say too. The flag wins over the environment, it over the file. */
interface Override {
  readonly path: readonly [string, ...string[]]
  readonly flag: string
  readonly kind: Kind
  readonly help: string
}

const override = (path: string, flag: string, kind: Kind, help: string): Override => ({
  path: path.split('.') as [string, ...string[]],
  flag,
  kind,
  help,
})

export const OVERRIDES: readonly Override[] = [
  override('logLevel', 'log-level', 'text', 'debug, info, warn, error or silent'),
  override(
    'kubernetes.kubeconfig',
    'kubeconfig',
    'text',
    'file with the address and credentials of the API server',
  ),
  override('kubernetes.context', 'context', 'text', 'context of the kubeconfig'),
  override('kubernetes.inCluster', 'in-cluster', 'flag', 'use the service account of this pod'),
  override('embedded.enabled', 'embedded', 'flag', 'run a Kubernetes-compatible API server in this process'),
  override('embedded.dataDir', 'data-dir', 'text', 'where the embedded API server keeps its data'),
  override('embedded.port', 'embedded-port', 'number', 'port of the embedded API server'),
  override('listen.host', 'host', 'text', 'address to listen on'),
  override('listen.websocketPort', 'websocket-port', 'number', 'port of the WebSocket of the edges'),
  override('listen.httpsPort', 'https-port', 'number', 'port of certificates and results'),
  override('listen.webhookPort', 'webhook-port', 'number', 'port of the admission webhooks'),
  override('listen.metricsPort', 'metrics-port', 'number', 'port of /metrics, /healthz and /readyz'),
  override('advertise.dnsNames', 'advertise-dns', 'list', 'names by which edges reach this hub'),
  override('advertise.ipAddresses', 'advertise-ip', 'list', 'addresses by which edges reach this hub'),
  override('roles.controllers', 'controllers', 'flag', 'run the controllers'),
  override('roles.channel', 'channel', 'flag', 'serve the edges'),
  override('roles.webhooks', 'webhooks', 'flag', 'serve the admission webhooks'),
]

/** `--websocket-port` is `UPGRADE_HUB_WEBSOCKET_PORT`. */
export function environmentName(flag: string): string {
  return `UPGRADE_HUB_${flag.toUpperCase().replaceAll('-', '_')}`
}

export type Environment = Readonly<Record<string, string | undefined>>

/** What the command line says: settings by path, and what is not a setting. */
export interface Flags {
  readonly settings: readonly Setting[]
  readonly config: string | undefined
  readonly printConfig: boolean
  readonly help: boolean
}

export interface Setting {
  readonly path: readonly [string, ...string[]]
  readonly value: unknown
}

/** @throws ConfigError that names what is unknown or misses its value. */
export function readFlags(args: readonly string[]): Flags {
  const options = Object.fromEntries(OVERRIDES.map(({ flag, kind }) => [flag, optionOf(kind)]))
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      allowNegative: true,
      options: {
        ...options,
        config: { type: 'string' },
        'print-config': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    return {
      settings: settingsOf((flag) => (values as Record<string, unknown>)[flag]),
      config: typeof values['config'] === 'string' ? values['config'] : undefined,
      printConfig: values['print-config'] === true,
      help: values['help'] === true,
    }
  } catch (error) {
    throw new ConfigError('the command line', [messageOf(error)])
  }
}

/** The settings of the environment. */
export function readEnvironment(environment: Environment): readonly Setting[] {
  return settingsOf((flag) => environment[environmentName(flag)])
}

/** `settings` over `file`, as one object; later ones win. */
export function applySettings(file: object, settings: readonly Setting[]): object {
  const merged = structuredClone(file) as Record<string, unknown>
  for (const { path, value } of settings) set(merged, path, value)
  return merged
}

function optionOf(kind: Kind): { type: 'boolean' } | { type: 'string' } | { type: 'string'; multiple: true } {
  if (kind === 'flag') return { type: 'boolean' }
  return kind === 'list' ? { type: 'string', multiple: true } : { type: 'string' }
}

function settingsOf(given: (flag: string) => unknown): Setting[] {
  return OVERRIDES.flatMap(({ path, flag, kind }) => {
    const value = given(flag)
    return value === undefined ? [] : [{ path, value: convert(kind, value) }]
  })
}

/** What does not convert stays as it is, so that the schema says what it should have been. */
function convert(kind: Kind, value: unknown): unknown {
  const text = Array.isArray(value) ? value.join(',') : value
  if (typeof text !== 'string') return value
  if (kind === 'list')
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  if (kind === 'number') return /^\d+$/.test(text) ? Number(text) : text
  if (kind === 'flag') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

function set(target: Record<string, unknown>, path: readonly [string, ...string[]], value: unknown): void {
  const [key, ...rest] = path
  const [next, ...deeper] = rest
  if (next === undefined) {
    target[key] = value
    return
  }
  const inner = target[key]
  if (inner !== undefined && (typeof inner !== 'object' || inner === null)) return
  const branch = (inner ?? {}) as Record<string, unknown>
  target[key] = branch
  set(branch, [next, ...deeper], value)
}
