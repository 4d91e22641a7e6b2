import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The user's own kubectl, from PATH; undefined where there is none: everything works without. */
export function findKubectl(path: string): string | undefined {
  return path
    .split(delimiter)
    .map((folder) => join(folder, 'kubectl'))
    .find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** What to try next, ready to be pasted. */
export function hints(kubeconfig: string): string[] {
  const plugin = `  PATH=$PATH:apps/kubectl-plugins/bin KUBECONFIG=${kubeconfig} kubectl nodeupgrade why edge-5`
  const plain = [
    'get nuj,nut,nodes',
    'describe nuj spring-upgrade',
    'explain nuj.spec.upgradeHub',
    'get events --sort-by=.metadata.creationTimestamp',
    `edit nuj spring-upgrade   # change spec: refused, and says why`,
  ].map((args) => `  KUBECONFIG=${kubeconfig} kubectl ${args}`)
  return [...plain, plugin]
}
