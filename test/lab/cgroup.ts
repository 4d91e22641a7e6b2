import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where systemd keeps its cgroups: the unified tree, or beside it the one that is only names. */
function trees(): string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
  return mounts
    .filter(
      ([, , type, options]) =>
        type === 'cgroup2' || (type === 'cgroup' && /\bname=systemd\b/.test(options ?? '')),
    )
    .map(([, path = '']) => path)
}

/** A cgroup of its own for one host, so that hosts never meet; the files that a process is moved by. */
export function makeCgroup(name: string): readonly string[] {
  return trees().map((tree) => {
    mkdirSync(join(tree, name), { recursive: true })
    return join(tree, name, 'cgroup.procs')
  })
}

/** Removes what a dead host has left; a cgroup with a process in it stays, and says so. */
export function removeCgroup(name: string): void {
  for (const tree of trees()) {
    const path = join(tree, name)
    if (existsSync(path)) removeTree(path)
  }
}

function removeTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(path, entry.name))
  }
  rmdirSync(path)
}
