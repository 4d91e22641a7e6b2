import { join } from 'node:path'
import { findBinaries, isProgram } from '../controlplane/binaries.ts'
import type { Kubectl } from './plane.ts'
import { run } from './program.ts'

/** The kubectl of the real control plane and the machine's own, newest first; one per minor version. */
export async function findKubectls(): Promise<Kubectl[]> {
  const binaries = findBinaries(process.env)
  const onPath = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'kubectl'))
  const paths = [...('absent' in binaries ? [] : [binaries.kubectl]), ...onPath.filter(isProgram).slice(0, 1)]
  const found = await Promise.all(paths.map(async (path) => ({ path, version: await versionOf(path) })))
  const known = found.filter(
    (one, index) => one.version !== '' && found.findIndex((o) => o.version === one.version) === index,
  )
  return known.toSorted((a, b) => Number(b.version.split('.')[1]) - Number(a.version.split('.')[1]))
}

async function versionOf(path: string): Promise<string> {
  const { stdout } = await run([path, 'version', '--client', '-o', 'json'])
  return stdout.match(/"gitVersion": "v(\d+\.\d+)/)?.[1] ?? ''
}
