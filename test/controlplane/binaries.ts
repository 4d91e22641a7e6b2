import { accessSync, constants } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const KUBERNETES_VERSION = 'v1.37.2'
export const ETCD_VERSION = 'v3.6.16'

export type BinaryName = 'etcd' | 'kube-apiserver' | 'kubectl' | 'kube-controller-manager'

/** Where a real control plane's programs are, absolute. */
export type Binaries = Readonly<Record<BinaryName, string>>

/** The answer when there is no real control plane on this machine: `reason` is a sentence for the closing table. */
export interface Absent {
  readonly absent: true
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

function allIn(folder: string): Binaries | undefined {
  const entries = RECIPES.map(({ name }) => [name, join(folder, name)] as const)
  return entries.every(([, path]) => isProgram(path)) ? (Object.fromEntries(entries) as Binaries) : undefined
}

/**
 * What is ready to run, without building. `KUBEBUILDER_ASSETS` (the ecosystem's variable) wins; a folder of it that
 * lacks a program is an error of the one who set it and never silently replaced by the cache.
 */
export function findBinaries(env: Environment): Binaries | Absent {
  const assets = env.KUBEBUILDER_ASSETS
  const found = allIn(assets || cacheFolder(env))
  if (found) return found
  const names = RECIPES.map(({ name }) => name).join(', ')
  return {
    absent: true,
    reason: assets
      ? `KUBEBUILDER_ASSETS=${assets} does not hold all of ${names}`
      : 'not built yet: run `npm run controlplane`',
  }
}
