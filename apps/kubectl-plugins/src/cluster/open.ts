import { type Clock, silentLogger } from '@upgrade-hub/core'
import { connect } from '@upgrade-hub/kube'
import type { Flags } from '../cli/flags.ts'
import { UsageError } from '../errors.ts'
import { Cluster } from './cluster.ts'

const REQUEST_TIMEOUT_MS = 15_000

/** The cluster that kubectl would speak to with these flags. @throws UsageError, ConfigError */
export async function openCluster(
  flags: Flags,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Cluster> {
  const kubeconfig = flags.text('kubeconfig')
  const context = flags.text('context')
  const user = flags.text('as')
  const groups = flags.list('as-group')
  if (groups.length > 0 && user === undefined) throw new UsageError('--as-group needs --as')
  const client = await connect({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(user === undefined ? {} : { as: { user, groups } }),
    clock,
    log: silentLogger,
    userAgent: 'kubectl-nodeupgrade',
  })
  const timeoutMs = flags.duration('request-timeout') || REQUEST_TIMEOUT_MS
  return new Cluster(client, { timeoutMs, signal })
}
