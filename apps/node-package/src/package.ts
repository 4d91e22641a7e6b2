import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, open, readFile, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle, copyLicences } from './bundle.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PROGRAMS = ['edgehub', 'edgeadm'] as const
/** e_machine of the ELF header, as OCI names architectures. @see elf(5) */
const MACHINES: Readonly<Record<number, string>> = { 62: 'amd64', 183: 'arm64' }
const MACHINE_OFFSET = 18

export interface PackageOptions {
  /** Where the archive goes. */
  readonly into: string
  /** The Node that the programs run on, and which says for what machine the archive is. */
  readonly node: string
}

export interface NodePackage {
  readonly archive: string
  readonly sha256: string
  readonly version: string
  readonly arch: string
}

/**
 * Makes the archive that is unpacked at the root of a node: `/usr/local/lib/upgrade-hub/{version}/` with one file a program
 * and the Node that runs them, and `/usr/local/bin/edgeadm` for people. The same sources give the same bytes.
 */
export async function makePackage({ into, node }: PackageOptions): Promise<NodePackage> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const arch = await archOf(node)
  await mkdir(into, { recursive: true })
  const root = await mkdtemp(join(into, 'tree-'))
  try {
    const files = await layOut({ root, node, home: `/usr/local/lib/upgrade-hub/${version}` })
    const archive = join(into, `upgrade-hub-node-${version}-linux-${arch}.tar.gz`)
    await pack(root, files, archive)
    const sha256 = createHash('sha256')
      .update(await readFile(archive))
      .digest('hex')
    return { archive, sha256, version, arch }
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** The architecture that a Linux program is built for. */
async function archOf(program: string): Promise<string> {
  const file = await open(program)
  try {
    const { buffer } = await file.read(Buffer.alloc(MACHINE_OFFSET + 2), 0, MACHINE_OFFSET + 2, 0)
    const arch = MACHINES[buffer.readUInt16LE(MACHINE_OFFSET)]
    if (buffer.toString('latin1', 1, 4) !== 'ELF' || !arch)
      throw new Error(`${program} is no Linux program for a machine we know`)
    return arch
  } finally {
    await file.close()
  }
}

/** @returns every file and link of the archive, from its root */
async function layOut(plan: { root: string; node: string; home: string }): Promise<readonly string[]> {
  const { root, node, home } = plan
  const place = (path: string) => join(root, home, path)
  const runtime = place('bin/node')
  await mkdir(dirname(runtime), { recursive: true })
  await copyFile(node, runtime)
  const licences = new Set<string>()
  for (const program of PROGRAMS) {
    const entry = join(ROOT, 'apps', program, 'src/main.ts')
    const used = await bundle({ entry, outfile: place(`${program}.cjs`), node: join(home, 'bin/node') })
    for (const folder of used) licences.add(folder)
  }
  const texts = await copyLicences([...licences], place('licences'))
  await copyFile(join(ROOT, 'LICENSE'), place('LICENSE'))
  await copyFile(join(dirname(node), '../LICENSE'), place('licences/node.txt'))
  const command = join(root, 'usr/local/bin/edgeadm')
  await mkdir(dirname(command), { recursive: true })
  await symlink(join(home, 'edgeadm.cjs'), command)
  const own = [...PROGRAMS.map((name) => `${name}.cjs`), 'LICENSE', 'licences/node.txt'].map(place)
  return [runtime, command, ...own, ...texts].map((path) => relative(root, path)).toSorted()
}

/** Files only: an archive that names folders would change those that a node has. */
async function pack(root: string, files: readonly string[], archive: string): Promise<void> {
  const same = ['--owner=0', '--group=0', '--numeric-owner', '--mtime=@0', '--mode=u=rwX,go=rX']
  const options = ['--create', '--no-recursion', '--format=gnu', '--use-compress-program=gzip -n']
  await promisify(execFile)('tar', [
    ...options,
    ...same,
    `--file=${archive}`,
    `--directory=${root}`,
    ...files,
  ])
}
