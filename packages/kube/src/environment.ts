import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The only reader of the process environment in this package. */

/** The kubeconfig files that kubectl would read: `KUBECONFIG`, else `~/.kube/config`. They may not exist. */
export function defaultKubeconfigPaths(): string[] {
  const listed = process.env['KUBECONFIG']?.split(delimiter).filter((path) => path !== '') ?? []
  return listed.length > 0 ? listed : [join(homedir(), '.kube', 'config')]
}

/** What a credential plugin inherits; plugins find their own settings and helpers there. */
export function pluginEnvironment(
  extra: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return { ...process.env, ...extra }
}

/** True where the kubelet announces the API server to its pods. */
export function runsInCluster(): boolean {
  return Boolean(process.env['KUBERNETES_SERVICE_HOST'] && process.env['KUBERNETES_SERVICE_PORT'])
}
