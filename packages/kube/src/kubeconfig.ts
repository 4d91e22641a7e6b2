import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { ConfigError, messageOf } from '@upgrade-hub/core'
import type { AuthMethod, ClusterAccess, ExecPlugin, Material } from './access.ts'

/** The only importer of client-node, and lazily: it costs 91 MB, which programs that never connect shall not pay. */
const loadClientNode = () => import('@kubernetes/client-node')
type ClientNode = Awaited<ReturnType<typeof loadClientNode>>
type KubeConfig = InstanceType<ClientNode['KubeConfig']>
type User = NonNullable<ReturnType<KubeConfig['getCurrentUser']>>
type Cluster = NonNullable<ReturnType<KubeConfig['getCurrentCluster']>>

/** The YAML of a kubeconfig, as much as client-node does not hand out. */
interface RawUser {
  tokenFile?: string
  'as-groups'?: string[]
  'as-uid'?: string
  'as-user-extra'?: Record<string, string[]>
  exec?: { command?: string; args?: string[]; env?: { name: string; value: string }[] | null }
  [key: string]: unknown
}
interface Named {
  name: string
}
interface RawConfig {
  'current-context'?: string
  clusters?: (Named & { cluster?: Record<string, unknown> })[]
  users?: (Named & { user?: RawUser })[]
  contexts?: Named[]
}

const FILE_FIELDS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

/**
 * Resolves one context of kubeconfig files, merged as kubectl does: of two entries with one name the first file's wins,
 * relative paths count from their own file.
 * @throws ConfigError
 */
export async function readKubeconfig(paths: readonly string[], context?: string): Promise<ClusterAccess> {
  const client = await loadClientNode()
  const source = `kubeconfig ${paths.join(', ')}`
  try {
    const raw = merge(await Promise.all(paths.map((path) => readRaw(client, path))))
    const config = new client.KubeConfig()
    config.loadFromString(JSON.stringify(raw))
    if (context !== undefined) config.setCurrentContext(context)
    return resolve(config, raw, source)
  } catch (error) {
    throw error instanceof ConfigError ? error : new ConfigError(source, [messageOf(error)])
  }
}

/** The access that the kubelet gives to every pod. `root` is the folder above /var/run (tests). @throws ConfigError */
export async function readInCluster(root = ''): Promise<ClusterAccess> {
  const client = await loadClientNode()
  const config = new client.KubeConfig()
  config.loadFromCluster(root)
  return resolve(config, {}, 'the service account of this pod')
}

async function readRaw(client: ClientNode, path: string): Promise<RawConfig> {
  const raw = client.loadYaml<RawConfig>(await readFile(path, 'utf8'))
  const base = dirname(path)
  for (const { cluster } of raw.clusters ?? []) absolutePaths(cluster, base)
  for (const { user } of raw.users ?? []) {
    absolutePaths(user, base)
    const command = user?.exec?.command
    // A bare name is looked up on PATH, anything with a slash belongs to the file (client-go's rule).
    if (user?.exec && command?.includes('/') && !isAbsolute(command)) user.exec.command = join(base, command)
  }
  return raw
}

function absolutePaths(entry: Record<string, unknown> | undefined, base: string): void {
  for (const field of FILE_FIELDS) {
    const path = entry?.[field]
    if (entry && typeof path === 'string' && path !== '' && !isAbsolute(path)) entry[field] = join(base, path)
  }
}

function merge(files: readonly RawConfig[]): RawConfig {
  const current = files.find((file) => file['current-context'])?.['current-context']
  return {
    ...(current === undefined ? {} : { 'current-context': current }),
    clusters: firstOfEachName(files.flatMap((file) => file.clusters ?? [])),
    users: firstOfEachName(files.flatMap((file) => file.users ?? [])),
    contexts: firstOfEachName(files.flatMap((file) => file.contexts ?? [])),
  }
}

function firstOfEachName<T extends Named>(entries: readonly T[]): T[] {
  return entries.filter((entry, i) => entries.findIndex((other) => other.name === entry.name) === i)
}

function resolve(config: KubeConfig, raw: RawConfig, source: string): ClusterAccess {
  const context = config.getContextObject(config.getCurrentContext())
  const cluster = config.getCurrentCluster()
  const user = config.getCurrentUser() ?? { name: '' }
  const rawUser = raw.users?.find((entry) => entry.name === context?.user)?.user ?? {}
  const problems = problemsOf(config, cluster, context?.user)
  if (problems.length > 0 || !cluster) throw new ConfigError(source, problems)
  const ca = material(cluster.caFile, cluster.caData)
  const cert = material(user.certFile, user.certData)
  const key = material(user.keyFile, user.keyData)
  return {
    server: cluster.server,
    namespace: context?.namespace ?? 'default',
    insecureSkipVerify: cluster.skipTLSVerify,
    auth: authMethod(config, user, rawUser, cluster),
    impersonation: impersonation(user, rawUser),
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(cluster.tlsServerName ? { serverName: cluster.tlsServerName } : {}),
    ...(cluster.proxyUrl ? { proxyUrl: cluster.proxyUrl } : {}),
  }
}

function problemsOf(config: KubeConfig, cluster: Cluster | null, user: string | undefined): string[] {
  const name = config.getCurrentContext()
  if (!name) return ['there is no current-context: set one, or name a context']
  if (!config.getContextObject(name)) return [`context ${name} does not exist`]
  if (!cluster) return [`the cluster of context ${name} does not exist`]
  const problems: string[] = []
  if (user && !config.getUser(user)) problems.push(`user ${user} of context ${name} does not exist`)
  if (!isAllowedServer(cluster.server)) {
    problems.push(`server ${cluster.server} must be https (plain http is for loopback only)`)
  }
  if (cluster.proxyUrl && !/^https?:/.test(cluster.proxyUrl)) {
    problems.push(`proxy-url ${cluster.proxyUrl} must be http or https`)
  }
  return problems
}

function isAllowedServer(server: string): boolean {
  if (!URL.canParse(server)) return false
  const { protocol, hostname } = new URL(server)
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname))
}

function material(file: string | undefined, base64: string | undefined): Material | undefined {
  if (file) return { file }
  return base64 ? { text: Buffer.from(base64, 'base64').toString('utf8') } : undefined
}

function authMethod(config: KubeConfig, user: User, raw: RawUser, cluster: Cluster): AuthMethod {
  const provider = user.authProvider as { name?: string; config?: { tokenFile?: string } } | null | undefined
  const tokenFile = raw.tokenFile ?? provider?.config?.tokenFile
  if (tokenFile) return { kind: 'bearer', token: { file: tokenFile } }
  if (user.token) return { kind: 'bearer', token: { text: user.token.trim() } }
  if (user.username) return { kind: 'basic', username: user.username, password: user.password ?? '' }
  if (user.exec) return { kind: 'exec', plugin: execPlugin(user.exec, cluster) }
  if (provider?.name) return { kind: 'provider', authorization: () => providerHeader(config) }
  return { kind: 'none' }
}

/** OIDC and the cloud providers of old: client-node knows how, the caller limits how often. */
async function providerHeader(config: KubeConfig): Promise<string | undefined> {
  const options: { headers: Record<string, string> } = { headers: {} }
  await config.applyToHTTPSOptions(options)
  return options.headers['Authorization']
}

function execPlugin(exec: Record<string, unknown>, cluster: Cluster): ExecPlugin {
  const { apiVersion, command, args, env, provideClusterInfo, interactiveMode } = exec as {
    apiVersion?: string
    command?: string
    args?: string[] | null
    env?: { name: string; value: string }[] | null
    provideClusterInfo?: boolean
    interactiveMode?: string
  }
  if (!command) throw new ConfigError('kubeconfig', ['the exec plugin has no command'])
  if (interactiveMode === 'Always') {
    throw new ConfigError('kubeconfig', [`exec plugin ${command} wants a terminal (interactiveMode: Always)`])
  }
  return {
    apiVersion: apiVersion ?? 'client.authentication.k8s.io/v1',
    command,
    args: args ?? [],
    env: Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
    ...(provideClusterInfo ? { cluster: clusterInfo(cluster) } : {}),
  }
}

/** @see https://kubernetes.io/docs/reference/config-api/client-authentication.v1/#client-authentication-k8s-io-v1-Cluster */
function clusterInfo(cluster: Cluster): Record<string, unknown> {
  return {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.skipTLSVerify,
    'certificate-authority-data': cluster.caData,
    'proxy-url': cluster.proxyUrl,
  }
}

/** Groups must not be lost: a request as a user without them could do more, or less, than was asked for. */
function impersonation(user: User, raw: RawUser): Record<string, string | string[]> {
  if (!user.impersonateUser) return {}
  const extra = Object.entries(raw['as-user-extra'] ?? {})
  return {
    'impersonate-user': user.impersonateUser,
    ...(raw['as-groups'] ? { 'impersonate-group': raw['as-groups'] } : {}),
    ...(raw['as-uid'] ? { 'impersonate-uid': raw['as-uid'] } : {}),
    ...Object.fromEntries(
      extra.map(([name, values]) => [`impersonate-extra-${encodeURIComponent(name)}`, values]),
    ),
  }
}
