import type { HealthProbe } from '@upgrade-hub/protocol'
import type { EdgeConfig } from './config.ts'

/** Why a probe cannot be asked on this node; undefined when it can. */
export function probeProblem(
  { exec, httpGet, tcpSocket }: HealthProbe,
  { policy }: EdgeConfig,
): string | undefined {
  const kinds = [exec, httpGet, tcpSocket].filter((kind) => kind !== undefined)
  if (kinds.length !== 1) return 'a probe is one of exec, httpGet and tcpSocket'
  if (exec && !Object.hasOwn(policy.probes, exec.name)) return `this node has no probe ${exec.name}`
  return undefined
}
