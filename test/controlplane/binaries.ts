import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const KUBERNETES_VERSION = 'v1.37.2'
const ETCD_VERSION = 'v3.6.16'

export type BinaryName = 'etcd' | 'kube-apiserver' | 'kubectl' | 'kube-controller-manager'

/** Where a real control plane's programs are, absolute. */
export type Binaries = Readonly<Record<BinaryName, string>>

/** The answer when there is no real control plane on this machine: `reason` is a sentence for the closing table. */
export interface Absent {
  readonly absent: 'wrongAssets' | 'notBuilt' | 'noGo' | 'buildFailed'
  readonly reason: string
}

/** A pinned program and the Go module (a folder beside this file) that pins it. */
export interface Recipe {
  readonly name: BinaryName
  readonly module: string
  readonly package: string
}

/** Cheapest first: a mistake in the surroundings shows after one minute, not after ten. */
export const RECIPES: readonly Recipe[] = [
  { name: 'etcd', module: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  { name: 'kube-apiserver', module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  { name: 'kubectl', module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubectl' },
  {
    name: 'kube-controller-manager',
    module: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
  },
]

const ASSETS: readonly BinaryName[] = ['etcd', 'kube-apiserver', 'kubectl']

export type Environment = Readonly<Record<string, string | undefined>>

/** Outside the repository and named after the pins: it outlives clones, and a new pin is a new folder. */
export function cacheFolder(env: Environment): string {
  const cache = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache')
  return join(cache, 'upgrade-hub', 'controlplane', `k8s-${KUBERNETES_VERSION}-etcd-${ETCD_VERSION}`)
}

export function moduleFolder(recipe: Recipe): string {
  return fileURLToPath(new URL(recipe.module, import.meta.url))
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where a program is, or will be once built: ready assets win over what this project builds. */
export function pathOf(name: BinaryName, env: Environment): string {
  const ready = env.KUBEBUILDER_ASSETS && join(env.KUBEBUILDER_ASSETS, name)
  return ready && isProgram(ready) ? ready : join(cacheFolder(env), name)
}

/**
 * What is ready to run, without building. `KUBEBUILDER_ASSETS` (the ecosystem's variable) wins; one that lacks what it
 * always holds is a mistake of the one who set it and never silently replaced. kube-controller-manager is never in it.
 */
export function findBinaries(env: Environment): Binaries | Absent {
  const lacking = env.KUBEBUILDER_ASSETS
    ? ASSETS.filter((name) => pathOf(name, env).startsWith(cacheFolder(env)))
    : []
  if (lacking.length > 0) {
    return {
      absent: 'wrongAssets',
      reason: `KUBEBUILDER_ASSETS=${env.KUBEBUILDER_ASSETS} lacks ${lacking.join(', ')}`,
    }
  }
  const paths = RECIPES.map(({ name }) => [name, pathOf(name, env)] as const)
  const missing = paths.filter(([, path]) => !isProgram(path)).map(([name]) => name)
  if (missing.length === 0) return Object.fromEntries(paths) as Binaries
  return { absent: 'notBuilt', reason: `${missing.join(', ')} not built yet: run \`npm run controlplane\`` }
}
