import { readFile, stat } from 'node:fs/promises'
import { ConfigError, messageOf } from '@upgrade-hub/core'
import { Ajv, type ErrorObject } from 'ajv'
import { parse } from 'yaml'
import { applySettings, type Environment, type Flags, readEnvironment } from './overrides.ts'
import { HubConfig } from './schema.ts'

const MAX_CONFIG_BYTES = 256 * 1024

/** File, environment and flags as one checked configuration. @throws ConfigError that lists every problem at once. */
export async function loadConfig(flags: Flags, environment: Environment): Promise<HubConfig> {
  const path = flags.config ?? environment['UPGRADE_HUB_CONFIG']
  const file = path === undefined ? {} : await readYaml(path)
  const settings = [...readEnvironment(environment), ...flags.settings]
  return checkConfig(applySettings(file, settings), path ?? 'the configuration')
}

/** Fills defaults in and checks the whole. Pure but for filling `value`. @throws ConfigError */
export function checkConfig(value: object, source = 'the configuration'): HubConfig {
  const check = new Ajv({ allErrors: true, useDefaults: true, strict: true }).compile<HubConfig>(HubConfig)
  if (!check(value)) throw new ConfigError(source, problemsOf(check.errors ?? []))
  const problems = crossChecks(value)
  if (problems.length > 0) throw new ConfigError(source, problems)
  return value
}

async function readYaml(path: string): Promise<object> {
  try {
    const { size } = await stat(path)
    if (size > MAX_CONFIG_BYTES) throw new ConfigError(path, [`larger than ${MAX_CONFIG_BYTES} bytes`])
    const value: unknown = parse(await readFile(path, 'utf8'), { maxAliasCount: 0 }) ?? {}
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    throw new ConfigError(path, ['must be a mapping of settings'])
  } catch (error) {
    throw error instanceof ConfigError ? error : new ConfigError(path, [messageOf(error)])
  }
}

/** One line a problem; the branches of a union say the same thing once. */
function problemsOf(errors: readonly ErrorObject[]): string[] {
  const lines = errors
    .filter((error) => error.keyword !== 'anyOf')
    .map((error) => `${settingOf(error)}: ${sentenceOf(error, errors)}`)
  return [...new Set(lines)]
}

function settingOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll('/', '.')
  if (keyword !== 'additionalProperties') return path === '' ? 'settings' : path
  return [path, String(params['additionalProperty'])].filter((part) => part !== '').join('.')
}

function sentenceOf(error: ErrorObject, all: readonly ErrorObject[]): string {
  if (error.keyword === 'additionalProperties') return 'is not a setting'
  if (error.keyword !== 'const') return error.message ?? 'is not valid'
  const same = all.filter((other) => other.keyword === 'const' && other.instancePath === error.instancePath)
  return `must be one of ${same.map((other) => String(other.params['allowedValue'])).join(', ')}`
}

function crossChecks(config: HubConfig): string[] {
  const problems: string[] = []
  if (config.embedded.enabled && (config.kubernetes.kubeconfig || config.kubernetes.inCluster)) {
    problems.push('embedded.enabled: cannot go with kubernetes.kubeconfig or kubernetes.inCluster')
  }
  if (config.kubernetes.inCluster && config.kubernetes.kubeconfig) {
    problems.push('kubernetes.inCluster: cannot go with kubernetes.kubeconfig')
  }
  if (!Object.values(config.roles).some(Boolean))
    problems.push('roles: all are off, so there is nothing to do')
  return [...problems, ...clashes(config)]
}

/** Two servers cannot share a port; 0 is any free one. */
function clashes({ listen, embedded }: HubConfig): string[] {
  const { websocketPort, httpsPort, webhookPort, metricsPort } = listen
  const ports = {
    websocketPort,
    httpsPort,
    webhookPort,
    metricsPort,
    ...(embedded.enabled ? { embedded: embedded.port } : {}),
  }
  const byPort = Map.groupBy(Object.entries(ports), ([, port]) => port)
  return [...byPort]
    .filter(([port, names]) => port !== 0 && names.length > 1)
    .map(([port, names]) => `listen: port ${port} is used by ${names.map(([name]) => name).join(' and ')}`)
}
