import { access as canRead } from 'node:fs/promises'
import { type Clock, ConfigError, type Logger, type Metrics, noMetrics } from '@upgrade-hub/core'
import type { ClusterAccess } from './access.ts'
import { KubeClient } from './client.ts'
import { defaultKubeconfigPaths, runsInCluster } from './environment.ts'
import { readInCluster, readKubeconfig } from './kubeconfig.ts'
import { Transport } from './transport.ts'

export interface ConnectOptions {
  /** One kubeconfig file. Default: what kubectl would read, else the pod's service account. */
  readonly kubeconfig?: string
  readonly context?: string
  readonly inCluster?: boolean
  /** Speak for somebody else, as kubectl's `--as` and `--as-group`; instead of what the kubeconfig says of it. */
  readonly as?: { readonly user: string; readonly groups: readonly string[] }
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: Metrics
  readonly userAgent?: string
}

/**
 * A client for the chosen cluster. Nothing is sent yet: a server that is down shows at the first call.
 * @throws ConfigError that names everything that is wrong with the kubeconfig
 */
export async function connect(options: ConnectOptions): Promise<KubeClient> {
  const access = await resolveAccess(options)
  const { as } = options
  return connectTo(as ? { ...access, impersonation: impersonation(as) } : access, options)
}

/** A client for an access that was resolved before. */
export function connectTo(
  access: ClusterAccess,
  options: Pick<ConnectOptions, 'clock' | 'log' | 'metrics' | 'userAgent'>,
): KubeClient {
  const { clock, log, metrics = noMetrics, userAgent = 'upgrade-hub' } = options
  return new KubeClient(new Transport({ access, clock, log, metrics, userAgent }))
}

async function resolveAccess({ kubeconfig, context, inCluster }: ConnectOptions): Promise<ClusterAccess> {
  if (kubeconfig !== undefined) return readKubeconfig([kubeconfig], context)
  if (inCluster) return readInCluster()
  const paths = await readable(defaultKubeconfigPaths())
  if (paths.length > 0) return readKubeconfig(paths, context)
  if (runsInCluster()) return readInCluster()
  throw new ConfigError('the cluster access', [
    `there is no kubeconfig at ${defaultKubeconfigPaths().join(', ')} and this is no pod: name a kubeconfig`,
  ])
}

function impersonation({ user, groups }: NonNullable<ConnectOptions['as']>) {
  return { 'impersonate-user': user, ...(groups.length > 0 ? { 'impersonate-group': [...groups] } : {}) }
}

/** kubectl passes over listed files that do not exist. */
async function readable(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      canRead(path).then(
        () => [path],
        () => [],
      ),
    ),
  )
  return found.flat()
}
